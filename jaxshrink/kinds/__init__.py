"""The kinds of failures, one file each: how it is seen in a run, and what of it must stay the same."""

from __future__ import annotations

from jaxshrink.failure import Failure
from jaxshrink.kinds.crash import Crashed
from jaxshrink.kinds.exception import Raised
from jaxshrink.kinds.hang import Hung
from jaxshrink.kinds.memory import OutOfMemory
from jaxshrink.kinds.printed import Printed
from jaxshrink.kinds.recompile import Recompiled
from jaxshrink.kinds.signature import Needs as Needs
from jaxshrink.kinds.signature import Signature as Signature
from jaxshrink.kinds.tested import Tested
from jaxshrink.options import Options
from jaxshrink.outcome import Outcome

KINDS: dict[str, type[Signature]] = {
    "test": Tested,
    "recompile": Recompiled,
    "hang": Hung,
    "memory": OutOfMemory,
    "crash": Crashed,
    "exception": Raised,
    "output": Printed,
}
"""In the order in which they are looked for: the first that a run shows is its failure."""


def failure(outcome: Outcome, options: Options, text: str | None) -> Failure | None:
    """The failure that a run shows, of the kind that is asked for if one is. `text`: see `Signature.seen`."""
    asked = {"hang": options.hang, "recompile": options.recompiles}
    wanted = [KINDS[name] for name, given in asked.items() if given is not None] or KINDS.values()
    return next((found for kind in wanted if (found := kind.seen(outcome, options, text)) is not None), None)


def signature(failure: Failure, options: Options, original: str) -> Signature:
    """What a candidate must show for this failure of the original text."""
    return KINDS[failure.kind].of(failure, options, original)
