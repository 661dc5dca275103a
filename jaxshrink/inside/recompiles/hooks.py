"""What is read of JAX's internals, and nothing else is: where calls miss the fast path, trace, and compile.

A call that the C++ cache of a jitted function does not know reaches `pjit._infer_params` (`common_infer_params` before
JAX 0.4.26), which traces, and then `_run_python_pjit` (`_python_pjit_helper` before 0.9), which compiles; both are
looked up in the module at each call, so that what stands there is also reached by functions that were jitted before.
Calls that hit the C++ cache pass none of this and cost nothing. Backward passes only reach
`pjit._pjit_call_impl_python`; until 0.9 pmap has a way of its own, `api._prepare_pmap`.

That there was a compilation, and how long it took, is told by `jax.monitoring`, which is public. Whether a function
was traced is not: since 0.8 its event comes without tracing, and not in nested calls. So misses of the cache are
counted, or calls of what is behind it.
"""

import functools
import importlib
import sys

_LOOKING_UP = ("_infer_params", "common_infer_params")
_RUNNING = ("_run_python_pjit", "_python_pjit_helper")

_OPTIONS = (
    "enable_x64", "default_matmul_precision", "numpy_rank_promotion", "numpy_dtype_promotion", "default_device",
    "disable_jit", "debug_key_reuse", "random_seed_offset", "threefry_partitionable", "softmax_custom_jvp",
    "enable_memories", "explicit_x64_dtypes", "debug_nans", "debug_infs", "optimization_level",
)  # fmt: skip
"""Options that change what is traced or compiled. Newer versions have the list themselves."""


class MissingHook(Exception):
    """This version of JAX is not as the known ones."""


class Hooks:
    """Sends calls and events to a watcher: `tracing`, `running`, `executing`, `preparing`, `clearing` and `event`."""

    def __init__(self, watcher):
        self.watcher = watcher
        self.replaced = []  # (module, name, original)
        self.traced = 0  # by the versions without a counter

    def install(self):
        """From now on. Raises MissingHook where JAX has no such places."""
        import jax

        pjit, trace = self._module("pjit"), self._module("interpreters.partial_eval")
        found = [next((name for name in names if hasattr(pjit, name)), None) for names in (_LOOKING_UP, _RUNNING)]
        if None in found:
            raise MissingHook(f"JAX {jax.__version__} has no place where calls of jitted functions can be watched: "
                              "jaxshrink knows those of JAX 0.4.20 to 0.12")  # fmt: skip
        looking_up, running = found
        self._count_traces(trace, jax.__version__)
        self._replace(pjit, looking_up, self.watcher.tracing if looking_up == _LOOKING_UP[0] else self._tracing)
        self._replace(pjit, running, self.watcher.running)
        self._replace(pjit, "_pjit_call_impl_python", self.watcher.executing)
        api = self._module("api")
        if hasattr(api, "_cpp_pmap") and hasattr(api, "_prepare_pmap"):
            self._replace(api, "_prepare_pmap", self.watcher.preparing)
        self._replace(self._module("util"), "clear_all_caches", self.watcher.clearing)
        _listen(self.watcher)

    def uninstall(self):
        """As it was."""
        while self.replaced:
            module, name, original = self.replaced.pop()
            setattr(module, name, original)
        _WATCHERS.discard(self.watcher)

    def misses(self):
        """A number that changes with each function that is traced in this thread."""
        return self.traced

    def _count_traces(self, trace, version):
        cached = getattr(trace, "trace_to_jaxpr", None)
        if hasattr(cached, "cache_info") and hasattr(self._module("pjit"), "_trace_for_jit"):
            self.misses = lambda: cached.cache_info().misses
        elif hasattr(trace, "trace_to_jaxpr_dynamic"):
            self._replace(trace, "trace_to_jaxpr_dynamic", self._counted)
        else:
            raise MissingHook(f"JAX {version} has no place where tracing can be counted")

    def _counted(self, original, given, named):
        self.traced += 1
        return original(*given, **named)

    def _tracing(self, infer, given, named):
        """The call as newer versions hand it on."""
        info, *args = given
        return self.watcher.tracing(lambda info, args, kwargs: infer(info, *args, **kwargs), (info, args, named), {})

    def _replace(self, module, name, instead):
        """Call `instead(original, args, kwargs)` in place of a function of a module."""
        original = getattr(module, name, None)
        if original is None:
            return

        @functools.wraps(original)
        def wrapper(*given, **named):
            return instead(original, given, named)

        self.replaced.append((module, name, original))
        setattr(module, name, wrapper)

    def _module(self, name):
        return importlib.import_module("jax._src." + name)


_WATCHERS = set()


@functools.cache
def _listening():
    """JAX can be told to listen once for all, and not to stop."""
    from jax import monitoring

    def tell(event, seconds, **more):
        for watcher in tuple(_WATCHERS):
            watcher.event(event, seconds, more.get("fun_name"))

    monitoring.register_event_duration_secs_listener(tell)


def _listen(watcher):
    _listening()
    _WATCHERS.add(watcher)


def context():
    """What of JAX's configuration counts for caches, as it is here: {name: text}."""
    config = sys.modules["jax._src.config"]
    found = {name: getattr(config, name).value for name in _OPTIONS if hasattr(getattr(config, name, None), "value")}
    values = dict(_named_context(config))
    found["mesh"] = _mesh(values)
    found["axis_names"] = _axis_names(values.pop("axis_env_state", None))
    for name, value in values.items():
        if name not in _MESHES:
            found.setdefault(name[4:] if name.startswith("jax_") else name, value)
    return {name: str(value) for name, value in found.items()}


_MESHES = ("mesh_context_manager", "abstract_mesh_context_manager")


def _named_context(config):
    try:
        return zip(config.trace_context_names(), config.trace_context())
    except (AttributeError, NotImplementedError):  # before 0.10
        return ()


def _mesh(values):
    """The axes of the mesh around, with their sizes."""
    around = [sys.modules["jax._src.mesh"].thread_resources.env.physical_mesh]
    for name in _MESHES:
        value = values.get(name)
        around += value if isinstance(value, tuple) else [value]
    shapes = [dict(mesh.shape) for mesh in around if mesh is not None and not mesh.empty]
    return ", ".join(f"{name}={size}" for name, size in shapes[0].items()) if shapes else None


def _axis_names(env):
    """The named axes around, with their sizes."""
    if env is None:
        core = sys.modules["jax._src.core"]
        try:
            env = core.get_axis_env()
        except AttributeError:  # before 0.4.36
            state = core.thread_local_state.trace_state.axis_env
            return {str(frame.name): frame.size for frame in state if frame.name is not core.no_axis_name} or None
    return {str(name): size for name, size in getattr(env, "axis_sizes", {}).items()} or None


def transformation(leaf):
    """Which transformation an argument is traced by, None for plain values and inside of jit."""
    name = type(leaf).__name__
    return _TRACERS.get(name) if name.endswith("Tracer") else None


_TRACERS = {"JVPTracer": "jvp", "BatchTracer": "vmap", "LinearizeTracer": "linearize", "JaxprTracer": "partial eval"}
