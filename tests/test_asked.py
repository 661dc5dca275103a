"""What a library asks of a class of the program, in place of a framework's: the same failure, or not."""

from __future__ import annotations

import pytest

from jaxshrink.failure import Failure
from jaxshrink.kinds.exception import Raised
from jaxshrink.outcome import End, Frame, Outcome

ASKED = """class Layer:
    def {method}(self):
        return {call}
"""
NETWORK = Frame("nets/module.py", "__hash__", 90)


@pytest.mark.parametrize(
    ("method", "what", "frames", "matches"),
    [
        ("__hash__", "hash", (), True),
        ("__hash__", "hash", (Frame("jax/_src/api.py", "vmap", 7),), False),
        ("digest", "hash", (), False),
        ("__hash__", "len", (), False),
    ],
)
def test_what_the_library_asks_of_a_class(method: str, what: str, frames: tuple[Frame, ...], matches: bool) -> None:
    """Of one of another library there, of one of the program's own here."""
    call = f"{what}(self.weights)"
    text = ASKED.format(method=method, call=call)
    asks = Frame("program.py", "<module>", 1, user=True), Frame("jax/_src/lax/loops.py", "scan", 388)
    original = Outcome(End.EXCEPTION, "TypeError", "unhashable type: 'Tracer'", (*asks, NETWORK, NETWORK))
    message = "unhashable type: 'Tracer'" if what == "hash" else "object of type 'Tracer' has no len()"
    at = Frame("repro.py", method, 3, 3, 15, 15 + len(call), True)
    outcome = Outcome(End.EXCEPTION, "TypeError", message, (*asks, *frames, at))
    assert Raised(Failure.of(original)).matches(outcome, text) == matches
