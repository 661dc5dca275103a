"""What instrumented code reports to: values of expressions, objects that calls made, statements that ran.

Recording must not change the run: nothing that can be watched from outside (open files,
iterators, tracers, objects with a finaliser) is kept alive, and no code of the program is called.

Runs in the target interpreter.
"""

import ast
import builtins
import contextlib
import functools
import itertools
import sys
import types
import weakref

import abstract
import instrument

BIG = 1 << 20
"""Bytes above which an array is not kept, only its shape and dtype."""

HOT = 10_000
"""Evaluations after which a site is watched no longer: from then on it calls the `get` of an empty
dictionary, which answers its second argument, in a tenth of the time."""

_MOST_AWAITED, _DEEPEST_AWAITED = 100, 8
_ATOMS = (type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_FLEETING = (BaseException, super, types.FrameType, types.TracebackType, types.CellType)
_MADE_LIMIT = 5000
_NO_VALUES = {}


class Summary:
    """What is left of an array or tracer that is not kept."""

    __slots__ = ("dtype", "lib", "shape", "tracer", "weak")

    def __init__(self, lib, shape, dtype, weak=False, tracer=False):
        self.lib, self.shape, self.dtype, self.weak, self.tracer = lib, shape, dtype, weak, tracer


class Nothing:
    """Stands where no value is known; the class itself is the value."""


class Made:
    """An object that a call made: its site, what the call's local names stood for, and how to get at it."""

    __slots__ = ("names", "object", "site")

    def __init__(self, site, names, held):
        self.site, self.names, self.object = site, names, held


class Recorder:
    """The record of one run. `is_local(class or function)` tells the program's own from a library's.

    `wait`: until each array is computed that an expression gives, so that a computation that fails or ends the
    process does so there.
    """

    def __init__(self, sites, is_local, keep_containers=True, wait=False):
        self.sites, self.is_local, self.keep_containers, self.wait = sites, is_local, keep_containers, wait
        self.ran, self.counts, self.last = bytearray(), [], []
        self.finished = []  # names of the program's modules, as their execution ended
        self.made = {}  # id -> Made
        self.latest = {}  # site -> id of the object made there, where it is one that had to be kept alive
        self.keepers = {}  # type -> what to keep of its instances (None: themselves)
        self.plain = set()  # types whose instances need no memory of where they were made

    def install(self):
        """Make the names that all instrumented code shares known."""
        setattr(builtins, instrument.RAN, self.ran)
        setattr(builtins, instrument.FINISHED, self.finished.append)

    def grow(self):
        """Make room for the sites of one more file, and their names known."""
        self.ran.extend(bytes(len(self.sites.lines) - len(self.ran)))
        known = len(self.last)
        new = len(self.sites.values) - known
        self.counts += [0] * new
        self.last += [Nothing] * new
        for site in range(known, known + new):
            setattr(builtins, instrument.site_name(site), self._record_function(site))

    def value(self, site):
        """The last value of a site: itself, a Summary, or Nothing."""
        value = self.last[site]
        return value() if type(value) is _Weak else value

    def lines(self):
        """File -> first lines of the statements that ran."""
        found = {}
        for ran, (file, lines) in zip(self.ran, self.sites.lines):
            if ran:
                found.setdefault(file, set()).update(lines)
        return {file: sorted(lines) for file, lines in found.items()}

    def _record_function(self, site):
        """What the code at a site calls with each value; written for speed."""
        counts, last, plain, get_keeper = self.counts, self.last, self.plain, self.keepers.get
        classify, remember, getframe = self._classify, self._remember, sys._getframe
        is_call, wait = isinstance(self.sites.expressions[site], ast.Call), self.wait

        def record(_, value):
            if wait:
                _wait_for(value)
            kind = type(value)
            keep = get_keeper(kind, classify)
            last[site] = value if keep is None else keep(value)
            if is_call and kind not in plain:
                remember(site, value, getframe(1))
            count = counts[site] = counts[site] + 1
            if count == HOT:
                setattr(builtins, instrument.site_name(site), _NO_VALUES.get)
            return value

        return record

    def _remember(self, site, value, frame):
        """Note where an object was made, at its first return from a call."""
        key = id(value)
        if key in self.made or len(self.made) >= _MADE_LIMIT:
            return
        if type(value) is types.FunctionType and self.is_local(value):
            return
        if type(value).__name__ == "ndarray" and not value.dtype.hasobject:  # of devices, for a mesh
            return
        names = {}
        if frame.f_locals is not frame.f_globals:
            variables = frame.f_locals
            names = {name: variables[name] for name in self._names_read(site) if name in variables}
        try:
            held = weakref.ref(value, lambda _: self.made.pop(key, None))
        except TypeError:  # kept alive, but only the site's latest: training states would fill the memory
            held = functools.partial(_same, value)
            self.made.pop(self.latest.get(site), None)
            self.latest[site] = key
        self.made[key] = Made(site, names, held)

    @functools.cache  # noqa: B019 - the recorder lives as long as the process
    def _names_read(self, site):
        return instrument.names_read(self.sites.expressions[site])

    def _is_plain_base(self, cls):
        """Whether a base class leaves an instance what its attributes tell (a thread, say, is more)."""
        return self.is_local(cls) or cls.__module__ in ("builtins", "typing", "abc", "enum")

    def _classify(self, value):
        """Decide for a type what is kept of its instances; what is kept of this one."""
        kind = type(value)
        jax = sys.modules.get("jax._src.core")
        keep = _weakly
        if issubclass(kind, _FLEETING):
            keep = _drop
            self.plain.add(kind)
        elif jax and issubclass(kind, jax.Tracer):
            keep = _tracer
            self.plain.add(kind)
        elif _is_array_type(kind):
            keep = _array
            if kind.__name__ != "ndarray":
                self.plain.add(kind)
        elif kind in _ATOMS:
            keep = None
            self.plain.add(kind)
        elif issubclass(kind, _CONTAINERS) or self.is_local(kind):
            keep = None if self.keep_containers and not hasattr(kind, "__del__") else _drop
            if kind in _CONTAINERS or all(map(self._is_plain_base, kind.__mro__)):
                self.plain.add(kind)
        self.keepers[kind] = keep
        return value if keep is None else keep(value)


def _wait_for(value, depth=0):
    """Wait until the arrays are computed that a value is or holds. That they cannot be is for others to find.

    Not those that lie very deep or late in it: a crash may be about a tree, and this is done again and again.
    """
    kind = type(value)
    if kind in (tuple, list, dict):
        values = value.values() if kind is dict else value
        for one in itertools.islice(values, _MOST_AWAITED) if depth < _DEEPEST_AWAITED else ():
            _wait_for(one, depth + 1)
    elif _is_array_type(kind) and hasattr(kind, "block_until_ready"):
        with contextlib.suppress(Exception):
            value.block_until_ready()


def _is_array_type(kind):
    for module, name in (("numpy", "ndarray"), ("numpy", "generic"), ("jax", "Array")):
        cls = getattr(sys.modules.get(module), name, None)
        if isinstance(cls, type) and issubclass(kind, cls):
            return True
    return False


def _drop(value):
    return Nothing


def _weakly(value):
    try:
        return _Weak(value)
    except TypeError:
        return value


class _Weak(weakref.ref):
    """A weak reference of ours (the program may have its own as values)."""

    __slots__ = ()

    def __call__(self):
        value = super().__call__()
        return Nothing if value is None else value


def _same(value):
    return value


def _tracer(value):
    try:
        aval, traced = value.aval, not abstract.is_array_class(type(value))
        return Summary("jax", tuple(aval.shape), aval.dtype, bool(getattr(aval, "weak_type", False)), tracer=traced)
    except Exception:
        return Nothing


def _array(value):
    try:
        if value.nbytes <= BIG:
            return value
    except Exception:
        return value
    lib = "jax" if hasattr(value, "weak_type") else "numpy"
    return Summary(lib, value.shape, value.dtype, bool(getattr(value, "weak_type", False)))
