"""Abstract runs: a whole program under one outermost trace, so that its array work is traced and not computed.

Arrays of that trace answer as real ones would where the program reads a value: with ones of their
shape and type. Tracers of the program's own transformations behave as always. The trace is entered
through `jax.eval_shape`; what is touched of JAX is how its tracers are made: those of the outermost
trace get a class of their own. What cannot be answered raises `Unknown`.
"""

import contextlib
import sys


class Unknown(BaseException):
    """The program asked what only a real array can tell. Not an Exception, so that the program does not catch it."""


class _Left(BaseException):
    """Leaves the outermost trace, without the jaxpr that JAX would make of it."""


_reads = set()  # lines of the program
_array_classes = set()
_outermost = []  # the trace under way


def trace(body):
    """What `body` returns when called under the outermost trace. It must not raise."""
    import jax

    _reads.clear()

    def outermost(x):
        with _outermost_arrays(x):
            raise _Left(body())

    try:
        jax.eval_shape(outermost, jax.ShapeDtypeStruct((), "float32"))
    except _Left as left:
        return left.args[0]


def is_outermost():
    """Whether what is traced next is called by the program itself, and not within another trace."""
    from jax._src import core

    context = getattr(core, "trace_ctx", None)  # JAX before 0.4.36 cannot tell
    return context is None or _owner(context.trace) in _outermost


def reads():
    """Lines of the program on which the last trace was asked for the value of an array, and has given a plain one."""
    return sorted(_reads)


def is_array_class(kind):
    """Whether the tracers of a class stand for arrays: the program has them where it would have real ones."""
    return kind in _array_classes


def is_artefact(error):
    """Whether an exception may come of the outermost trace rather than of the program.

    Threads, compile-time evaluation and compiled functions do not take part in the outermost trace: they find
    tracers where there would be arrays.
    """
    if isinstance(error, Unknown) or type(error).__name__ == "UnexpectedTracerError":
        return True
    return isinstance(error, TypeError) and "transformations to a function lowered and compiled" in str(error)


def check():
    """Whether this works with this JAX: values can be read of outermost arrays, and not of inner tracers."""

    def body():
        import jax
        import jax.numpy as jnp

        array = jnp.sin(jnp.ones(3, "float32"))
        if array.sum().item() + float(array[0]) != 2.0 or repr(array[0]) != "Array(1., dtype=float32)":
            return False
        try:
            jax.jit(float)(array[0])
        except jax.errors.ConcretizationTypeError:
            return True
        return False

    try:
        return trace(body) is True
    except Exception:  # internals that have changed may raise anything
        return False


@contextlib.contextmanager
def _outermost_arrays(tracer):
    """Give the tracers that belong to the trace of `tracer` the class `_array_class`, from their making on."""
    kind = type(tracer)
    array_class, outermost, init = _array_class(kind), _owner(tracer._trace), kind.__init__
    _outermost[:] = [outermost]

    def make(self, trace, *args, **kwargs):
        init(self, trace, *args, **kwargs)
        if _owner(trace) is outermost:
            self.__class__ = array_class

    kind.__init__ = make
    try:
        yield
    finally:
        kind.__init__ = init


def _owner(trace):
    return getattr(trace, "main", None) or trace  # up to JAX 0.4.35 a trace is one of several with the same main


def _array_class(tracer_class):
    """A class of tracers that answer like arrays of ones, under the name of JAX's class of arrays."""
    import numpy
    from jax._src import array, core

    def checked(convert, check):
        check = getattr(core, f"check_{check}_conversion")

        def method(self):
            check(self)
            return convert(plain(self))

        return method

    def show(self):
        value = plain(self)
        text = numpy.array2string(value, prefix="Array(", suffix=",", separator=", ", threshold=1000)
        return f"Array({text}, dtype={value.dtype.name})"

    def plain(self):
        if not isinstance(self.dtype, numpy.dtype):  # random keys and other types of JAX alone
            raise Unknown
        _reads.add(_line())
        return numpy.ones(self.shape, self.dtype)

    real = array.ArrayImpl
    methods = {
        "__slots__": (),
        "__module__": real.__module__,
        "__qualname__": real.__qualname__,
        "to_concrete_value": lambda self: plain(self) if isinstance(self.dtype, numpy.dtype) else None,
        "__bool__": checked(bool, "bool"),
        "__int__": checked(int, "scalar"),
        "__float__": checked(float, "scalar"),
        "__complex__": checked(complex, "scalar"),
        "__index__": checked(int, "integer"),
        "__array__": lambda self, *args, **kwargs: plain(self).__array__(*args),
        "__format__": lambda self, spec: format(plain(self) if self.ndim else plain(self)[()], spec),
        "__repr__": show,
        "__str__": lambda self: str(plain(self)),
        "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
        "tolist": lambda self: plain(self).tolist(),
        "tobytes": lambda self, order="C": plain(self).tobytes(order),
        "block_until_ready": lambda self: self,
        "copy_to_host_async": lambda self: None,
        "is_ready": lambda self: True,
    }
    methods.update((name, _unanswerable(tracer_class, name)) for name in _ONLY_REAL)
    methods.update((name, _placed(tracer_class, name, answer)) for name, answer in _PLACED.items())
    # Messages made in C show the name with which a class was made, all others its `__name__`.
    named = type("Named", (type(tracer_class),), {"__name__": property(lambda cls: real.__name__)})
    made = named(f"{real.__module__}.{real.__name__}", (tracer_class,), methods)
    _array_classes.add(made)
    return made


def _line():
    """The line at which the program stands."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        frame = frame.f_back
    return 0 if frame is None else frame.f_lineno


_ONLY_REAL = (
    "__dlpack__", "__dlpack_device__", "__reduce__", "addressable_data", "addressable_shards", "delete",
    "global_shards", "is_deleted", "on_device_size_in_bytes", "unsafe_buffer_pointer",
)  # fmt: skip


def _device():
    return sys.modules["jax"].devices()[0]


_PLACED = {
    "committed": lambda: False,
    "device": _device,
    "devices": lambda: lambda: {_device()},
    "is_fully_addressable": lambda: True,
    "is_fully_replicated": lambda: True,
    "sharding": lambda: sys.modules["jax"].sharding.SingleDeviceSharding(_device()),
}
"""Where an array is: on the first device, as long as the program has not said otherwise."""


def _placed(tracer_class, name, answer):
    """An attribute that the program gets as of a real array, and JAX itself as of a tracer."""

    def get(self):
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("jax"):
            return answer()
        return getattr(super(type(self), self), name)

    return property(get)


def _unanswerable(tracer_class, name):
    """An attribute that only a real array has. JAX itself, which knows tracers, gets what a tracer says."""

    def get(self):
        if not sys._getframe(1).f_globals.get("__name__", "").startswith("jax"):
            raise Unknown(name)
        return getattr(super(type(self), self), name)

    return property(get)
