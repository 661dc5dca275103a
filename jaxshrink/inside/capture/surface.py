"""JAX's public surface: which functions and methods are watched, and how they get their wrappers.

A module that is imported later is seen to then.
"""

import functools
import importlib.abc
import importlib.machinery
import sys
import types

from . import binds, contexts, methods, objects, rules, tracebacks, tracing, wrappers
from .calls import Made, Public
from .values import ALL, NONE, function_places, is_of_jax

MODULES = (
    "jax", "jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.lax.linalg", "jax.nn",
    "jax.nn.initializers", "jax.random", "jax.tree", "jax.tree_util", "jax.debug", "jax.image", "jax.ops", "jax.ref",
    "jax.ad_checkpoint", "jax.custom_batching", "jax.custom_derivatives", "jax.export", "jax.sharding",
    "jax.scipy.fft", "jax.scipy.integrate", "jax.scipy.interpolate", "jax.scipy.linalg", "jax.scipy.ndimage",
    "jax.scipy.optimize", "jax.scipy.signal", "jax.scipy.sparse.linalg", "jax.scipy.special", "jax.scipy.spatial",
    "jax.scipy.cluster.vq", "jax.scipy.stats",
    "jax.experimental", "jax.experimental.checkify", "jax.experimental.jet", "jax.experimental.multihost_utils",
    "jax.experimental.ode", "jax.experimental.pallas", "jax.experimental.pallas.ops", "jax.experimental.pjit",
    "jax.experimental.shard_map", "jax.experimental.sparse", "jax.errors",
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
    "export",
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
    import jax.numpy

    session.settings.look()
    for name in MODULES:
        if name in sys.modules:
            _module(session, name)
    _policies(session, getattr(jax, "checkpoint_policies", None))
    methods.install(session)
    rules.install(session)
    contexts.install(session)
    objects.install(session)
    binds.install(session)
    tracebacks.install()
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
                self.session.guard(None, _module, self.session, name)
                self.session.guard(None, objects.install, self.session)  # its classes may have come with it

        spec.loader.exec_module = executed
        return spec


def _module(session, name):
    """Wrap the public functions of a module."""
    module = sys.modules[name]
    if isinstance(vars(module).get("__getattr__"), types.FunctionType):
        module.__getattr__ = _getattr(session, name, module.__getattr__)
    for attribute, thing in list(vars(module).items()):
        if isinstance(thing, type) and is_of_jax(thing) and not attribute.startswith("_"):
            session.names.setdefault(id(thing), Public(name + "." + attribute))
        if isinstance(thing, frozenset):  # the sets of checks
            session.names.setdefault(id(thing), Public(name + "." + attribute))
        if not attribute.startswith("_") and attribute not in _UNTOUCHED.get(name, ()):
            setattr(module, attribute, _wrapper(session, name, attribute, thing))
    for attribute in _CLASSES.get(name, ()):
        if hasattr(module, attribute):
            _class(session, Public(name + "." + attribute), getattr(module, attribute))


def _wrapper(session, name, attribute, thing):
    """The wrapper for what a module has under a name, or the thing itself."""
    if not _is_wrappable(thing) or wrappers.mark_of(thing) is not None:
        return thing
    if id(thing) in session.originals:  # under another name; one wrapper for all
        return session.originals[id(thing)][1]
    public, through = Public(name + "." + attribute), _THROUGH.get(name, ())
    if attribute in _HOST.get(name, ()):
        wrapper = _host(session, public, thing)
    elif through is None or attribute in through:
        wrapper = _through(session, public, thing)
    else:
        wrapper = _leaf(session, public, thing)
    session.names[id(thing)] = public
    session.originals[id(thing)] = (thing, wrapper)
    return wrapper


def _getattr(session, name, find):
    """A module's own look-up, by which it tells what is deprecated: what it finds is wrapped too."""

    @functools.wraps(find)
    def found(attribute):
        thing = find(attribute)
        return thing if attribute.startswith("_") else _wrapper(session, name, attribute, thing)

    return found


def _policies(session, namespace):
    """What `jax.checkpoint` saves: functions that JAX calls itself, and those that make such functions."""
    for name, thing in list(vars(namespace).items()) if namespace is not None else ():
        public = Public("jax.checkpoint_policies." + name)
        if name.startswith(("save_", "offload_")):
            setattr(namespace, name, _maker(session, public, thing))
        else:
            session.names.setdefault(id(thing), public)


def _maker(session, public, make):
    """A function that makes an object for which its call stands."""

    @functools.wraps(make)
    def called(*args, **kwargs):
        made = make(*args, **kwargs)
        if not session.is_idle:
            session.guard(None, noted, made, args, kwargs)
        return made

    def noted(made, args, kwargs):
        wrappers.mark(made, Made(public, *session.both(args, kwargs, NONE)[0]))

    return called


def _is_wrappable(thing):
    if isinstance(thing, type) or not callable(thing):
        return False
    home = getattr(thing, "__module__", None) or type(thing).__module__
    if not isinstance(home, str) or home.partition(".")[0] not in ("jax", "jaxlib"):
        return False
    kinds = (types.FunctionType, functools.partial)
    return isinstance(thing, kinds) or type(thing).__name__ in ("PjitFunction", "ufunc", "custom_jvp", "custom_vjp")


def _leaf(session, public, fun):
    functions = function_places(fun)
    is_maker = public.name.rpartition(".")[2] in _MAKERS
    is_simple = functions is NONE and not is_maker

    def called(*args, **kwargs):
        scope = session.scope
        if session.is_inside:
            return fun(*args, **kwargs)
        if not session.is_on:
            return session.prepared(public, fun, args, kwargs, functions) if is_maker else fun(*args, **kwargs)
        if is_simple and scope is None:
            return session.quick(public, fun, args, kwargs)
        return session.call(public, fun, args, kwargs, functions)

    return _public(session, called, fun, public)


def _through(session, public, fun):
    def called(*args, **kwargs):
        if session.is_idle:
            return fun(*args, **kwargs)
        return session.through(public, fun, args, kwargs)

    return _public(session, called, fun, public)


def _host(session, public, fun):
    def called(callback, *args, **kwargs):
        if session.is_idle or not callable(callback):
            return fun(callback, *args, **kwargs)
        host = session.guard(callback, tracing.host, session, callback)
        return session.call(public, fun, (host, *args), kwargs)

    return _public(session, called, fun, public)


def _public(session, called, fun, public):
    wrapper = wrappers.dressed(called, fun, public, fun)
    for name in ("reduce", "accumulate", "at", "reduceat", "outer"):  # of a ufunc
        if type(fun).__name__ == "ufunc" and hasattr(fun, name):
            vars(wrapper)[name] = wrappers.method(session, public, fun, name)
    for name in _KEPT:
        if hasattr(fun, name) and not hasattr(wrapper, name):
            vars(wrapper)[name] = getattr(fun, name)
    return wrapper


def _class(session, public, cls):
    """Note how instances are made; functions that they are given are traced."""
    make = cls.__init__

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        if session.is_idle:
            make(self, *args, **kwargs)
            return
        expressions, (args, kwargs) = session.guard((None, (args, kwargs)), session.both, args, kwargs, ALL)
        make(self, *args, **kwargs)
        if expressions is not None:
            session.guard(None, wrappers.mark, self, Made(public, *expressions))

    cls.__init__ = made


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
