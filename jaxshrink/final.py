"""The end of a job: the tidy text that fails in the same way in fresh interpreters, alone in an empty folder."""

from __future__ import annotations

import ast
import collections
import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from jaxshrink import tree as trees
from jaxshrink.interest import Interest, last_good
from jaxshrink.oracles import VERIFIED
from jaxshrink.outcome import Outcome, Tier


def tidy(tree: ast.Module, env: Mapping[str, str] | None = None) -> str:
    """The tidy text; what makes it is slow to load and only needed at the end."""
    from jaxshrink import tidy as style

    return style.tidy(tree, env)


def prepare() -> None:
    """Load what makes a text tidy, in the background, while there is something else to wait for."""
    threading.Thread(target=importlib.import_module, args=("jaxshrink.tidy",), daemon=True).start()


class Final:
    """Turns the newest version of a program that holds into the result.

    Nothing of the job's surroundings helps in the runs here: the text itself sets the environment variables
    that it needs. `fresh` gives an interest that asks new runners, which have the program's data files or not; `files`
    says whether these had to lie beside it.
    """

    TIMES: ClassVar[int] = VERIFIED

    def __init__(self, history: Sequence[ast.Module], env: Mapping[str, str], fresh: Callable[[bool], Interest]):
        self.history, self.env, self.fresh = history, env, fresh
        self.witness: tuple[Outcome, str] | None = None
        """How a text ended last that held, and the text."""
        self.use(files=False)

    def text(self) -> str | None:
        """The result; None where no version of the program holds."""
        text = self.verified(self.history[-1])
        if text is not None:
            return text
        text = self.newest()
        if text is None:  # perhaps it needs the files
            self.use(files=True)
            text = self.verified(self.history[-1]) or self.newest()
            if text is not None and not self.stands_alone(text):
                self.use(files=True)
        return text

    def stands_alone(self, text: str) -> bool:
        """Whether a text holds without files after all: what comes and goes may have done so by chance before."""
        self.use(files=False)
        return self.is_sure(text)

    def use(self, *, files: bool) -> None:
        """Verify with the program's data files from now on, or without."""
        self.files, self.interest = files, self.fresh(files)
        self.held: collections.Counter[str] = collections.Counter()

    def hasty(self) -> str | None:
        """The newest version that holds in a single run, with all its variables: for a user who waits no longer."""
        texts = [tidy(tree, self.env) if self.env else trees.text(tree) + "\n" for tree in self.history]
        good = last_good(texts, lambda text: self.holds([text]) == [True])
        return texts[good] if good >= 0 else None

    def newest(self) -> str | None:
        """The newest version that holds, found by bisection."""
        texts = [tidy(tree, self.env) for tree in self.history]
        good = last_good(texts, lambda text: self.holds([text]) == [True])
        return self.verified(self.history[good]) if good >= 0 else None

    def verified(self, tree: ast.Module) -> str | None:
        """The tidy text with the variables that it needs, if it fails each time; the plain text where tidying harms."""
        if not self.env:
            versions = [tidy(tree), trees.text(tree) + "\n"]
            return next(filter(self.is_sure, versions), None)
        needed = dict(self.env)
        without, complete = self.holds([tidy(tree), tidy(tree, needed)])
        if without:
            needed = {}
        elif not complete:
            return None
        for name in list(needed) if len(needed) > 1 else ():
            fewer = {other: value for other, value in needed.items() if other != name}
            if self.holds([tidy(tree, fewer)]) == [True]:
                needed = fewer
        for name in needed:
            needed = {**needed, name: self.needed_flags(tree, needed, name)}
        text = tidy(tree, needed)
        return text if self.is_sure(text) else None

    def needed_flags(self, tree: ast.Module, env: Mapping[str, str], name: str) -> str:
        """The value of a variable that holds several flags without those that do not matter."""
        flags = env[name].split()
        if not all(flag.startswith("--") for flag in flags):
            return env[name]
        for flag in list(flags):
            fewer = [each for each in flags if each != flag]
            if fewer and self.holds([tidy(tree, {**env, name: " ".join(fewer)})]) == [True]:
                flags = fewer
        return " ".join(flags)

    def is_sure(self, text: str) -> bool:
        """Whether a text holds as often as it must, the times included that it has done so already."""
        return all(self.holds([text] * (self.TIMES - self.held[text])))

    def rate(self, text: str, times: int) -> int:
        """In how many of `times` runs the text fails."""
        return sum(self.interest.hold([text] * times, Tier.COLD, 1))

    def holds(self, texts: Sequence[str]) -> list[bool]:
        verdicts = self.interest.hold(texts, Tier.COLD, self.interest.repeat)
        self.witness = self.interest.witness or self.witness
        self.held.update(text for text, verdict in zip(texts, verdicts, strict=True) if verdict)
        return verdicts
