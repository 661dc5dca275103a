"""The conventional dotted names of library objects: `jax.numpy.tanh` and not `jax._src.numpy.ufuncs.tanh`.

Only modules that the program has imported are looked at. Runs in the target interpreter.
"""

import builtins
import sys
import types

_FIRST = (
    "jax.sharding", "jax.experimental.pallas", "jax", "jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.tree",
    "jax.tree_util", "jax.numpy.linalg", "jax.numpy.fft", "jax.nn.initializers", "jax.scipy.special",
    "jax.scipy.linalg", "jax.scipy.signal", "jax.dtypes", "jax.errors", "jax.experimental", "numpy", "numpy.linalg",
    "numpy.random", "numpy.fft", "typing",
)  # fmt: skip
"""Where several modules offer an object, the first of these is the one that people write, in any version of JAX:
`jax.P` and `jax.NamedSharding` are new."""

_RARE = ("jax.interpreters", "jax.extend", "jax.core", "jaxlib")
"""Modules whose names few programs would use."""

_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)
_BUILTIN_VALUES = ("bool", "int", "float", "complex", "str", "bytes", "tuple", "list", "dict", "set", "NoneType")


class PublicNames:
    """Looks up names; the tables are built once, at the first question.

    `is_local(module name)` tells the program's own modules, which are never public.
    """

    def __init__(self, is_local):
        self.is_local = is_local
        self._by_id = None
        self._by_code = {}

    def of(self, thing):
        """The public name of a function, class, module or constant object, or None."""
        if type(thing) is types.ModuleType:
            return self._module(thing.__name__)
        self._build()
        name = self._by_id.get(id(thing))
        if name is None and issubclass(type(thing), _NAMED):
            name = self._by_qualified_name(thing)
        return name

    def of_code(self, code):
        """The public name of the function that runs `code`, wrappers such as jit looked through, or None."""
        self._build()
        return self._by_code[code][0] if code in self._by_code else None

    def defaults(self, code):
        """Parameter name → default value of a function that `of_code` knows."""
        function = self._by_code[code][1]
        positional = code.co_varnames[: code.co_argcount]
        defaults = function.__defaults__ or ()
        return {**dict(zip(positional[len(positional) - len(defaults) :], defaults)), **(function.__kwdefaults__ or {})}

    def wrapper(self, thing):
        """The public name of what made a wrapper: its class (`jax.custom_vjp`), `jax.jit`, or the outer function."""
        if type(thing).__name__ == "PjitFunction":
            return "jax.jit"
        if type(thing) is not types.FunctionType:
            return self.of(type(thing))
        return self.of_code_outside(thing.__code__, thing.__globals__)

    def of_code_outside(self, code, namespace):
        """The public name of the outermost function or class in which `code` is defined, or None (Python < 3.11)."""
        outer = getattr(code, "co_qualname", "").partition(".")[0]
        return self.of(namespace[outer]) if outer in namespace else None

    def _module(self, name):
        if self.is_local(name) or any(part.startswith("_") for part in name.split(".")):
            return None
        return name

    def _build(self):
        if self._by_id is not None:
            return
        self._by_id = {id(getattr(sys, name)): "sys." + name for name in ("stdin", "stdout", "stderr")}
        numpy = {}
        for name in self._modules():
            module = sys.modules[name]
            table = numpy if name.partition(".")[0] == "numpy" else self._by_id
            for attribute, thing in list(vars(module).items()):
                if attribute.startswith("_") or isinstance(thing, types.ModuleType):
                    continue
                if type(thing).__name__ in _BUILTIN_VALUES and type(thing).__module__ == "builtins":
                    continue
                if _is_foreign(thing, name):
                    continue
                table.setdefault(id(thing), name + "." + attribute)
                function = _function(thing)
                if function is not None and function.__code__ not in self._by_code:
                    self._by_code[function.__code__] = (name + "." + attribute, function)
        for key, name in numpy.items():  # `jax.numpy.dtype` is NumPy's, which is how people know it
            self._by_id[key] = name

    def _modules(self):
        """Public names of imported third-party modules, the conventional first, then shorter before longer."""
        known = [name for name in _FIRST if isinstance(sys.modules.get(name), types.ModuleType)]
        others = [
            name
            for name, module in list(sys.modules.items())
            if isinstance(module, types.ModuleType) and "site-packages" in (getattr(module, "__file__", None) or "")
        ]
        others = [name for name in others if name not in known and self._module(name) and not name.startswith(_RARE)]
        return known + sorted(others, key=lambda name: (name.count("."), name))

    def _by_qualified_name(self, thing):
        """A name below the module that the object says it is from, if it is found there."""
        module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if not isinstance(module, str) or not isinstance(path, str):
            return None
        module = module.partition("._")[0].lstrip("_")  # pathlib._local.Path is pathlib.Path, and _operator.add
        if not self._module(module):
            return None
        if "<" in path or any(part.startswith("_") for part in path.split(".")):
            return None
        found = sys.modules.get(module)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is not thing:
            return None
        return path if module == builtins.__name__ else module + "." + path


def _is_foreign(thing, name):
    """Whether a module only imported `thing` from the standard library or another distribution."""
    own = name.partition(".")[0]
    home = getattr(thing if isinstance(thing, (type, types.FunctionType)) else type(thing), "__module__", None)
    top = home.partition(".")[0] if isinstance(home, str) else own
    if isinstance(thing, (type, types.FunctionType)):
        return top != own and top not in (("jaxlib", "ml_dtypes", "numpy") if own == "jax" else ())
    return top not in (own, "jax", "jaxlib", "numpy", "builtins")


def _function(thing):
    """The Python function that runs when `thing` is called; decorators are looked through."""
    for _ in range(8):
        inner = getattr(thing, "__dict__", None)
        inner = inner.get("__wrapped__") if isinstance(inner, dict) else None
        if inner is None:
            inner = _wrapped(thing)
        if inner is None:
            break
        thing = inner
    return thing if isinstance(thing, types.FunctionType) else None


def _wrapped(thing):
    if issubclass(type(thing), _NAMED):
        return None
    if type(thing).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None
    for name in ("__wrapped__", "fun"):  # PjitFunction keeps no __dict__; custom_jvp and custom_vjp call it `fun`
        inner = getattr(thing, name, None)
        if inner is not None:
            return inner
    return None
