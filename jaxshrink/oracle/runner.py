"""Runs candidates: abstract and warm ones in forks of the zygote, cold ones in fresh interpreters."""

from __future__ import annotations

import collections
import dataclasses
import functools
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from jaxshrink.faults import explained
from jaxshrink.oracle.server import Server
from jaxshrink.oracle.setting import Setting
from jaxshrink.outcome import End, Outcome, Tier

LONGER = 4
"""A candidate that ran out of time is run again alone, with the limit times this."""

COLD_JOBS = 3
"""As many at least, whatever `jobs` says: a result is verified three times, at once."""

_ABSTRACT_ENDS = (End.EXCEPTION, End.EXIT, End.SYNTAX)
"""What an abstract run can tell; anything else may come of values that are not the real ones."""


@dataclasses.dataclass
class _Asked:
    """A program on its way to an outcome."""

    text: str
    tier: Tier
    request: dict[str, Any]
    outcome: Future[Outcome] = dataclasses.field(default_factory=Future)
    again: bool = False


class Runner:
    """Runs candidates of one setting. Starts nothing until the first run, or `warm_up`.

    `counts` tells what was run so far, by tier. Every method raises `jaxshrink.errors.TargetError` if the
    interpreter does not start or has no JAX.
    """

    def __init__(self, setting: Setting):
        self.setting = setting
        self.counts: collections.Counter[Tier] = collections.Counter()
        self.closed = False
        self.idle: float | None = None  # seconds for which a forked run may do nothing; None: its time limit
        self.nice = 0  # by how much forked runs yield to other processes
        self.lock = threading.Lock()
        self.servers: dict[bool, Server] = {}  # by "preloaded"
        self.helpers = ThreadPoolExecutor(max(setting.jobs, COLD_JOBS), "jaxshrink second tries")

    def run(
        self, texts: Sequence[str], tier: Tier, timeout: float | None = None, *, sample: bool = False
    ) -> list[Outcome]:
        """Outcomes of the texts, in order. None is a time-out that a lack of time on this machine explains.

        `sample`: the question is whether they hang. `timeout` is in seconds of wall time then, and what runs out of
        it tells where it stood.
        """
        futures = [self.submit(text, tier, timeout, sample=sample) for text in texts]
        outcomes = [future.result() for future in futures]
        for index, outcome in enumerate(outcomes):
            if outcome.starved:
                longer = LONGER * self._limit(tier, timeout)
                outcomes[index] = self.submit(texts[index], tier, longer).result()
        return outcomes

    def submit(self, text: str, tier: Tier, timeout: float | None = None, *, sample: bool = False) -> Future[Outcome]:
        """Queue one run; at most `jobs` go on at once."""
        return self._asked(text, tier, self._request(tier, timeout, sample=sample))

    def watch(
        self, text: str, spec: Mapping[str, object], tier: Tier = Tier.ABSTRACT, timeout: float | None = None
    ) -> Future[Outcome]:
        """Observe a forked run of the program that lies in the setting's folder, and whose entry file holds `text`.

        `spec` is what `inside/observe.py` is told, or with `capture` `inside/captured.py`; what it names as `out` is
        written if that works.
        """
        request = self._request(tier, timeout, sample=False)
        request |= {"in_turn": tier is Tier.ABSTRACT, "watch": {**spec, "abstract": tier is Tier.ABSTRACT}}
        return self._asked(text, tier, request)

    def warm_up(self) -> None:
        """Start the zygote, and do not wait for it."""
        self._server(True)

    def target(self) -> Mapping[str, Any]:
        """Wait for the zygote; versions of `python`, `jax`, `jaxlib`, `numpy`, and what of the sandbox is in force."""
        return self._server(True).ready()

    def close(self) -> None:
        """End everything that was started and remove its files."""
        with self.lock:
            self.closed = True
            servers, self.servers = [*self.servers.values()], {}
        for server in servers:
            server.close()
        self.helpers.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _limit(self, tier: Tier, timeout: float | None) -> float:
        return self.setting.time_limit(tier is Tier.ABSTRACT) if timeout is None else timeout

    def _server(self, preload: bool, instead_of: Server | None = None) -> Server:
        with self.lock:
            if self.closed:
                raise RuntimeError("the runner is closed")
            server = self.servers.get(preload)
            if server is None or server is instead_of:
                if instead_of is not None:
                    instead_of.close()
                server = self.servers[preload] = self._start(preload)
            return server

    def _start(self, preload: bool) -> Server:
        setting = self.setting
        spec = {
            "preload": preload, "imports": setting.imports, "argv": setting.argv, "memory": setting.memory_limit(),
            "folder": str(setting.folder.absolute()) if setting.folder else None,
            "jobs": setting.jobs if preload else max(setting.jobs, COLD_JOBS), "cache": preload and setting.cache,
            "finish": setting.finish, "compiles": setting.compiles, "out": str(setting.out) if setting.out else None,
        }  # fmt: skip
        return Server(setting.python, setting.environment(), spec)

    def _request(self, tier: Tier, timeout: float | None, *, sample: bool) -> dict[str, Any]:
        limit = self._limit(tier, timeout)
        is_cut_short = tier is not Tier.COLD or sample
        idle = min(self.idle, limit) if self.idle is not None and is_cut_short else limit
        shared = tier is Tier.WARM and self.setting.shared
        return {
            "abstract": tier is Tier.ABSTRACT, "in_turn": shared or tier is Tier.ABSTRACT, "limit": limit, "idle": idle,
            "sample": sample, "nice": self.nice, "watch": None,
        }  # fmt: skip

    def _asked(self, text: str, tier: Tier, request: dict[str, Any]) -> Future[Outcome]:
        asked = _Asked(text, tier, request)
        self._ask(asked, self._server(tier is not Tier.COLD))
        return asked.outcome

    def _ask(self, asked: _Asked, server: Server) -> None:
        server.ask(asked.text, asked.request).add_done_callback(functools.partial(self._settle, asked, server))

    def _settle(self, asked: _Asked, server: Server, answer: Future[dict[str, Any]]) -> None:
        """Turn an answer into an outcome. Where the server has died, ask another one, then a cold run."""
        try:
            problem = answer.exception()
            if problem is None:
                asked.outcome.set_result(self._counted(explained(Outcome.from_json(answer.result())), asked.tier))
            elif self.closed or server.greeting.exception() is not None:
                asked.outcome.set_exception(server.greeting.exception() or problem)
            elif not asked.again or asked.tier is not Tier.COLD:
                self.helpers.submit(self._ask_again, asked, server)
            else:
                asked.outcome.set_exception(problem)
        except Exception as error:  # else nobody would ever hear of it
            asked.outcome.set_exception(error)

    def _ask_again(self, asked: _Asked, dead: Server) -> None:
        try:
            if asked.again:
                asked.tier = Tier.COLD
                self._ask(asked, self._server(False))
            else:
                asked.again = True
                self._ask(asked, self._server(asked.tier is not Tier.COLD, instead_of=dead))
        except Exception as error:
            asked.outcome.set_exception(error)

    def _counted(self, outcome: Outcome, tier: Tier) -> Outcome:
        with self.lock:
            self.counts[tier] += 1
        if tier is Tier.ABSTRACT and outcome.end not in _ABSTRACT_ENDS:
            return dataclasses.replace(outcome, end=End.UNKNOWN)
        return outcome
