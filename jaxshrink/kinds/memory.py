"""Memory: a run that takes more than it may, told by JAX or by the limit that is set."""

from __future__ import annotations

import dataclasses
import re
from typing import Self

from jaxshrink.failure import Failure, site
from jaxshrink.kinds.exception import names_of
from jaxshrink.kinds.signature import Needs
from jaxshrink.messages import first_sentence
from jaxshrink.options import Options
from jaxshrink.outcome import End, Outcome

_TOLD = re.compile(r"RESOURCE_EXHAUSTED|[Oo]ut of memory|Unable to allocate|MemoryError")

_WRAPPED = re.compile(r"^[A-Z_]+: (Error dispatching computation: )+")
"""What XLA puts before its message once for each computation that waited for the one that failed."""


@dataclasses.dataclass(frozen=True)
class OutOfMemory:
    """JAX or NumPy tells the same, or the limit is reached again. Sizes shrink as far as that stays so."""

    failure: Failure
    names: frozenset[str] = frozenset()

    @classmethod
    def seen(cls, outcome: Outcome, options: Options, text: str | None) -> Failure | None:
        if outcome.end is End.MEMORY:
            limit = "the memory there is" if options.memory is None else f"{options.memory:g} GiB"
            return Failure("memory", "memory", f"takes more than {limit}", site(outcome.stack))
        if outcome.end is End.EXCEPTION and _tells(outcome):
            return dataclasses.replace(Failure.of(outcome), kind="memory")
        return None

    @classmethod
    def of(cls, failure: Failure, options: Options, original: str) -> Self:
        return cls(failure, names_of(original))

    @property
    def needs(self) -> Needs:
        return Needs(sizes=False)

    @property
    def is_about_values(self) -> bool:
        return False

    def matches(self, outcome: Outcome, text: str) -> bool:
        old = self.failure
        if outcome.end is End.MEMORY:
            return old.type == "memory"
        if outcome.end is not End.EXCEPTION or outcome.type != old.type or not _tells(outcome):
            return False
        return site(outcome.frames) == old.site and self._said(outcome.message or "") == self._said(old.message)

    def _said(self, message: str) -> tuple[object, ...]:
        return first_sentence(_WRAPPED.sub("", message), self.names), bool(_WRAPPED.match(message))


def _tells(outcome: Outcome) -> bool:
    return _TOLD.search(f"{outcome.type}: {outcome.message}") is not None
