"""What is read of JAX's internals, and nothing else is: where calls miss the fast path, trace, and compile.

A call that the C++ cache of a jitted function does not know reaches `pjit._infer_params` (in 0.9.0 `_trace_for_jit`,
before 0.4.26 `common_infer_params`), which traces, and then `_run_python_pjit` (before 0.9 `_python_pjit_helper`),
which compiles; all are looked up in the module at each call, so that what stands there is also reached by functions
that were jitted before. Calls that hit the C++ cache pass none of this and cost nothing. Backward passes only reach
`pjit._pjit_call_impl_python`; until 0.9 pmap has a way of its own, `api._prepare_pmap`.

That there was a compilation, and how long it took, is told by `jax.monitoring`, which is public. Whether a function
was traced is not: since 0.8 its event comes without tracing, and not in nested calls. So misses of the cache are
counted, or calls of what is behind it.
"""

import functools
import importlib
import sys
import threading

_LOOKING_UP = ("_infer_params", "_trace_for_jit", "common_infer_params")
_RUNNING = ("_run_python_pjit", "_python_pjit_helper")

_OPTIONS = (
    "enable_x64", "default_matmul_precision", "numpy_rank_promotion", "numpy_dtype_promotion", "default_device",
    "disable_jit", "debug_key_reuse", "random_seed_offset", "threefry_partitionable", "softmax_custom_jvp",
    "enable_memories", "explicit_x64_dtypes", "debug_nans", "debug_infs", "optimization_level",
)  # fmt: skip
"""Options that change what is traced or compiled. Newer versions have the list themselves."""


_watchers = []
"""Those that are told, the first one nearest to JAX."""

_replaced = []
"""(module, name, original) of what is replaced as long as there are watchers."""


class MissingHook(Exception):
    """This version of JAX is not as the known ones."""


def begin(watcher):
    """Send calls and events to a watcher: to `tracing`, `running`, `executing`, `preparing`, `clearing` and `event`.

    The first five are called as `method(original, args, kwargs)` in place of a function of JAX, the last as
    `event(name, seconds, name of the function)`. Raises MissingHook where JAX has no such places.
    """
    if not _watchers:
        try:
            _install()
        except MissingHook:
            _uninstall()
            raise
    _watchers.append(watcher)


def end(watcher):
    """The other half of `begin`; watchers may end in any order."""
    if watcher in _watchers:
        _watchers.remove(watcher)
    if not _watchers:
        _uninstall()


def _install():
    import jax

    pjit, api = _module("pjit"), _module("api")
    found = [next((name for name in names if hasattr(pjit, name)), None) for names in (_LOOKING_UP, _RUNNING)]
    if None in found:
        raise MissingHook(f"JAX {jax.__version__} has no place where calls of jitted functions can be watched: "
                          "jaxshrink knows those of JAX 0.4.20 to 0.12")  # fmt: skip
    looking_up, running = found
    _count_traces(pjit, _module("interpreters.partial_eval"), jax.__version__)
    _watch(pjit, looking_up, "tracing", _as_before if looking_up == _LOOKING_UP[-1] else _as_now)
    _watch(pjit, running, "running")
    _watch(pjit, "_pjit_call_impl_python", "executing")
    _watch(_module("util"), "clear_all_caches", "clearing")
    if hasattr(api, "_cpp_pmap"):
        _watch(api, "_prepare_pmap", "preparing")
    _listen()


def _uninstall():
    while _replaced:
        setattr(*_replaced.pop())


def _as_now(original, given, named):
    return original, given, named


def _as_before(original, given, named):
    """A look-up in an older version, as newer ones do it: options, arguments and keyword arguments."""
    info, *args = given
    return (lambda info, args, kwargs: original(info, *args, **kwargs)), (info, args, named), {}


def _watch(module, name, method, arranged=_as_now):
    """Call this method of all watchers in place of a function of a module, one within the other."""

    def instead(original, given, named):
        call, given, named = arranged(original, given, named)
        for watcher in _watchers[:]:
            call = functools.partial(_through, getattr(watcher, method), call)
        return call(*given, **named)

    _replace(module, name, instead)


def _through(method, call, *given, **named):
    return method(call, given, named)


def _replace(module, name, instead):
    original = getattr(module, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def wrapper(*given, **named):
        return instead(original, given, named)

    _replaced.append((module, name, original))
    setattr(module, name, wrapper)


def _count_traces(pjit, trace, version):
    cached = getattr(trace, "trace_to_jaxpr", None)
    if hasattr(cached, "cache_info") and hasattr(pjit, "_trace_for_jit"):
        _counters["cached"] = lambda: cached.cache_info().misses
    elif hasattr(trace, "trace_to_jaxpr_dynamic"):
        _replace(trace, "trace_to_jaxpr_dynamic", _counted)
    else:
        raise MissingHook(f"JAX {version} has no place where tracing can be counted")


_counters = {}
_traced = threading.local()


def misses():
    """A number that changes with each function that is traced in this thread."""
    return _counters["cached"]() if "cached" in _counters else getattr(_traced, "count", 0)


def _counted(original, given, named):
    _traced.count = getattr(_traced, "count", 0) + 1
    return original(*given, **named)


def _module(name):
    return importlib.import_module("jax._src." + name)


@functools.cache
def _listen():
    """JAX can be told to listen once for all, and not to stop."""
    from jax import monitoring

    def tell(event, seconds, **more):
        for watcher in _watchers[:]:
            watcher.event(event, seconds, more.get("fun_name"))

    monitoring.register_event_duration_secs_listener(tell)


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
    if name == "JVPTracer" and type(leaf.tangent).__name__ == "JaxprTracer":  # before 0.4.36
        return "grad"
    return _TRACERS.get(name) if name.endswith("Tracer") else None


def mapped(leaf):
    """Which axis of an argument `vmap` maps over, and its size; empty where it maps over none."""
    if type(leaf).__name__ != "BatchTracer" or not isinstance(leaf.batch_dim, int):
        return ""
    return f"axis {leaf.batch_dim} of {leaf.val.shape[leaf.batch_dim]}"


_TRACERS = {"JVPTracer": "jvp", "BatchTracer": "vmap", "LinearizeTracer": "grad", "JaxprTracer": "partial eval"}
