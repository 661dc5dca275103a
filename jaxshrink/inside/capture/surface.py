"""JAX's public surface: which functions and methods are watched, and how they get their wrappers.

A module that is imported later is seen to then.
"""

import functools
import importlib.abc
import importlib.machinery
import sys
import types

from . import methods, recorder, rules
from .calls import Made, Public

MODULES = (
    "jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.lax.linalg", "jax.nn",
    "jax.nn.initializers", "jax.random", "jax.tree", "jax.tree_util", "jax.debug", "jax.image", "jax.ops", "jax.ref",
    "jax.ad_checkpoint", "jax.custom_batching", "jax.custom_derivatives", "jax.export", "jax.sharding",
    "jax.scipy.fft", "jax.scipy.integrate", "jax.scipy.interpolate", "jax.scipy.linalg", "jax.scipy.ndimage",
    "jax.scipy.optimize", "jax.scipy.signal", "jax.scipy.sparse.linalg", "jax.scipy.special", "jax.scipy.spatial",
    "jax.scipy.cluster.vq", "jax.scipy.stats",
    "jax.experimental", "jax.experimental.checkify", "jax.experimental.jet", "jax.experimental.multihost_utils",
    "jax.experimental.ode", "jax.experimental.pallas", "jax.experimental.pallas.ops", "jax.experimental.pjit",
    "jax.experimental.shard_map", "jax.experimental.sparse",
)  # fmt: skip

_STATISTICS = (
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "gennorm", "geom",
    "gumbel_l", "gumbel_r", "laplace", "logistic", "multinomial", "multivariate_normal", "nbinom", "norm", "pareto",
    "poisson", "t", "truncnorm", "uniform", "vonmises", "wrapcauchy",
)  # fmt: skip
MODULES += tuple("jax.scipy.stats." + name for name in _STATISTICS)

_THROUGH = {
    "jax.numpy": (
        "broadcast_shapes", "can_cast", "dtype", "finfo", "iinfo", "isdtype", "isscalar", "issubdtype", "iterable",
        "ndim", "promote_types", "result_type", "shape", "size", "set_printoptions", "get_printoptions", "printoptions",
        "array_repr", "array_str", "save", "savez", "load",
    ),
    "jax": (
        "block_until_ready", "copy_to_host_async", "default_backend", "device_count", "device_get", "devices",
        "effects_barrier", "host_count", "host_id", "host_ids", "live_arrays", "local_device_count", "local_devices",
        "print_environment_info", "process_count", "process_index", "process_indices", "typeof", "clear_caches",
        "make_mesh",
    ),
    "jax.tree": None,
    "jax.tree_util": None,
    "jax.lax": ("dtype", "broadcast_shapes", "padtype_to_pads", "conv_dimension_numbers"),
    "jax.sharding": None,
}  # fmt: skip
"""What computes nothing on arrays: noted only where it fails. None: all of the module."""

_UNTOUCHED = {
    "jax": ("named_scope", "set_mesh", "make_user_context", "ensure_compile_time_eval", "disable_jit", "checking_leaks",
            "transfer_guard", "custom_jvp", "custom_vjp"),
    "jax.tree_util": ("Partial",),
    "jax.custom_batching": ("custom_vmap",),
}  # fmt: skip
_HOST = {
    "jax": ("pure_callback",), "jax.experimental": ("io_callback",), "jax.debug": ("callback",),
}  # fmt: skip
_MAKERS = (
    "jit", "pjit", "vmap", "pmap", "grad", "value_and_grad", "jacfwd", "jacrev", "jacobian", "hessian", "checkpoint",
    "remat", "shard_map", "smap", "named_call", "vectorize", "frompyfunc", "pallas_call", "sequential_vmap",
)  # fmt: skip
"""What gives functions."""

_KEPT = ("nin", "nout", "nargs", "identity", "lower", "trace", "eval_shape", "clear_cache", "defjvp", "defjvps")
"""Attributes of functions that their wrappers have too."""

_CLASSES = {"jax.experimental.pallas": ("BlockSpec", "GridSpec")}

def install(session, installed=lambda: None):
    """Put the wrappers in place, now or as soon as JAX is imported; `installed` is called then."""
    if "jax" in sys.modules and not getattr(sys.modules["jax"].__spec__, "_initializing", False):
        _install(session)
        installed()
    else:
        sys.meta_path.insert(0, _Finder(session, installed))


def _install(session):
    import jax
    import jax.numpy  # noqa: F401

    session.settings.look()
    for name in MODULES:
        if name in sys.modules:
            _module(session, name)
    methods.install(session)
    rules.install(session)
    _sweep(session)
    if not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, _Finder(session))


class _Finder(importlib.abc.MetaPathFinder):
    """Sees JAX's modules being imported."""

    def __init__(self, session, installed=lambda: None):
        self.session, self.installed, self.busy = session, installed, set()

    def find_spec(self, name, path=None, target=None):
        if name not in MODULES or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        finally:
            self.busy.discard(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def executed(module):
            execute(module)
            if name == "jax":
                _install(self.session)
                self.installed()
            elif not getattr(sys.modules["jax"].__spec__, "_initializing", False):
                _module(self.session, name)

        spec.loader.exec_module = executed
        return spec


def _module(session, name):
    """Wrap the public functions of a module."""
    module = sys.modules[name]
    through = _THROUGH.get(name, ())
    for attribute, thing in list(vars(module).items()):
        if attribute.startswith("_") or not _is_wrappable(thing) or attribute in _UNTOUCHED.get(name, ()):
            continue
        known = session.names.get(id(thing))
        if known is not None:  # under another name; one wrapper for all
            setattr(module, attribute, session.originals[id(thing)][1])
            continue
        if recorder._MARK in getattr(thing, "__dict__", {}):
            continue
        public = Public(name + "." + attribute)
        if attribute in _HOST.get(name, ()):
            wrapper = _host(session, public, thing)
        elif through is None or attribute in through:
            wrapper = _through(session, public, thing)
        else:
            wrapper = _leaf(session, public, thing)
        session.names[id(thing)] = public
        session.originals[id(thing)] = (thing, wrapper)
        setattr(module, attribute, wrapper)
    for attribute in _CLASSES.get(name, ()):
        if hasattr(module, attribute):
            _class(session, Public(name + "." + attribute), getattr(module, attribute))
    if name == "jax":
        _contexts(session, module)


def _is_wrappable(thing):
    if isinstance(thing, type) or not callable(thing):
        return False
    home = getattr(thing, "__module__", None) or type(thing).__module__
    if not isinstance(home, str) or home.partition(".")[0] not in ("jax", "jaxlib"):
        return False
    kinds = (types.FunctionType, functools.partial)
    return isinstance(thing, kinds) or type(thing).__name__ in ("PjitFunction", "ufunc", "custom_jvp", "custom_vjp")


def _leaf(session, public, fun):
    functions = recorder.function_places(fun)
    is_simple = functions is recorder.NONE
    is_maker = public.name.rpartition(".")[2] in _MAKERS

    def called(*args, **kwargs):
        scope = session.scope
        if scope is recorder._INSIDE:
            return fun(*args, **kwargs)
        if not session.is_on:
            return session.prepared(public, fun, args, kwargs, functions) if is_maker else fun(*args, **kwargs)
        if is_simple and scope is None:
            return session.quick(public, fun, args, kwargs)
        return session.call(public, fun, args, kwargs, functions)

    return _public(session, called, fun, public)


def _through(session, public, fun):
    def called(*args, **kwargs):
        if not session.is_on or session.scope is recorder._INSIDE:
            return fun(*args, **kwargs)
        return session.through(public, fun, args, kwargs)

    return _public(session, called, fun, public)


def _host(session, public, fun):
    def called(callback, *args, **kwargs):
        if not session.is_on or session.scope is recorder._INSIDE or not callable(callback):
            return fun(callback, *args, **kwargs)
        return session.call(public, fun, (session.host(callback), *args), kwargs)

    return _public(session, called, fun, public)


def _public(session, called, fun, public):
    wrapper = recorder._dressed(called, fun, public, fun)
    for name in ("reduce", "accumulate", "at", "reduceat", "outer"):  # of a ufunc
        if type(fun).__name__ == "ufunc" and hasattr(fun, name):
            vars(wrapper)[name] = session.wrapped_method(public, fun, name)
    for name in _KEPT:
        if hasattr(fun, name) and not hasattr(wrapper, name):
            vars(wrapper)[name] = getattr(fun, name)
    return wrapper


def _class(session, public, cls):
    """Note how instances are made; functions that they are given are traced."""
    make = cls.__init__

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        if not session.is_on or session.scope is recorder._INSIDE:
            make(self, *args, **kwargs)
            return
        taken = [session.taken(arg, functions=True) for arg in args]
        named = {name: session.taken(value, functions=True) for name, value in kwargs.items()}
        make(self, *[one[1] for one in taken], **{name: one[1] for name, one in named.items()})
        expression = Made(public, [one[0] for one in taken], {name: one[0] for name, one in named.items()})
        recorder.mark(self, expression)

    cls.__init__ = made


def _contexts(session, jax):
    original = jax.named_scope

    @functools.wraps(original)
    def named(name, *args, **kwargs):
        return _Named(session, name, original(name, *args, **kwargs))

    jax.named_scope = named


class _Named:
    """A context of JAX's that is noted too; as a decorator it is JAX's own."""

    def __init__(self, session, name, context):
        self.session, self.name, self.context = session, name, context

    def __call__(self, fun):
        return self.context(fun)

    def __enter__(self):
        self.scope = self.session.scope if self.session.is_on else None
        if self.scope is not None:
            self.scope.named.append((self.name, object()))
        return self.context.__enter__()

    def __exit__(self, *raised):
        if self.scope is not None:
            self.scope.named.pop()
        return self.context.__exit__(*raised)


def _sweep(session):
    """Names that modules imported before have bound: they get the wrappers too."""
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top in ("jax", "jaxlib", "numpy") or not isinstance(module, types.ModuleType):
            continue
        for attribute, thing in list(vars(module).items()):
            found = session.originals.get(id(thing))
            if found is not None and found[0] is thing:
                setattr(module, attribute, found[1])
