"""The other end of `jaxshrink/inside/zygote.py`: start it, ask it, end it."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from jaxshrink.errors import JaxshrinkError, TargetError
from jaxshrink.scratch import Scratch

ZYGOTE = Path(__file__).parents[1] / "inside" / "zygote.py"
_PATIENCE = 5.0
_CACHE = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}


class ServerError(JaxshrinkError):
    """The process ended before it answered; the message has the end of what it said on stderr."""


class Server:
    """A process of the target interpreter that runs candidates; it works while this object is open.

    `spec` has the fields `preload` (import JAX, fork candidates; else candidates run in fresh interpreters),
    `imports`, `argv`, `folder`, `jobs`, `memory`, `cache`, `finish`, `compiles` and `out`, in the sense of `Setting`.
    Raises TargetError if the interpreter cannot be started; `ready` does so if it has no JAX.
    """

    def __init__(self, python: str, environment: Mapping[str, str], spec: Mapping[str, Any]):
        self.scratch = Scratch()
        self.root = self.scratch.path
        self.pending: dict[int, Future[dict[str, Any]]] = {}
        self.lock = threading.Lock()
        self.sending = threading.Lock()  # another one: answers must get through while a long request is sent
        self.numbers = itertools.count()
        self.dead = False
        self.greeting: Future[dict[str, Any]] = Future()
        self.channel, theirs = socket.socketpair()
        self.errors = (self.root / "stderr").open("w+b")
        (self.root / "runs").mkdir()
        told = {**spec, "root": str(self.root), "cache": None}
        if spec["cache"]:
            told["cache"] = str(self.root / "cache")
            (self.root / "cache").mkdir()
            environment = {**environment, **_CACHE, "JAX_COMPILATION_CACHE_DIR": told["cache"]}
        with theirs:
            try:
                self.process = subprocess.Popen(
                    [python, str(ZYGOTE), str(theirs.fileno()), json.dumps(told)],
                    env=dict(environment), cwd=self.root, pass_fds=[theirs.fileno()], start_new_session=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors,
                )  # fmt: skip
            except OSError as error:
                self._clean()
                raise TargetError(f"cannot run the interpreter {python}: {error.strerror}") from error
        self.reader = threading.Thread(target=self._read, name="jaxshrink answers", daemon=True)
        self.reader.start()

    def ready(self) -> dict[str, Any]:
        """Wait until it is up; what it says of itself: versions, what of the sandbox is in force."""
        return self.greeting.result()

    def ask(self, text: str, request: Mapping[str, Any]) -> Future[dict[str, Any]]:
        """Queue a program; what comes is how it ended, or ServerError."""
        answer: Future[dict[str, Any]] = Future()
        with self.lock:
            number = next(self.numbers)
            self.pending[number] = answer
            dead = self.dead
        try:
            line = json.dumps({**request, "id": number, "text": text}).encode() + b"\n"
            with self.sending:
                self.channel.sendall(line)
        except OSError:
            dead = True
        if dead:
            self._fail([number])
        return answer

    def close(self) -> None:
        """End it and all that it runs."""
        try:
            self.channel.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.dead = True
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self._clean()

    def _clean(self) -> None:
        self.channel.close()
        self.errors.close()
        self.scratch.remove()

    def _read(self) -> None:
        """Pass answers on, until there are no more."""
        try:
            with self.channel.makefile("rb") as lines:
                for line in lines:
                    self._pass_on(json.loads(line))
        except (OSError, ValueError):
            pass  # torn in the middle of a line: ended like one that is closed
        with self.lock:
            self.dead = True
        if not self.greeting.done():
            self.greeting.set_exception(TargetError(f"the interpreter did not start: {self._last_words()}"))
        self._fail([*self.pending])

    def _fail(self, numbers: Sequence[int]) -> None:
        """Nobody will answer these."""
        with self.lock:
            answers = [self.pending.pop(number) for number in numbers if number in self.pending]
        for answer in answers:
            answer.set_exception(ServerError(f"the process that runs candidates died: {self._last_words()}"))

    def _pass_on(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            self.greeting.set_result(message["ready"])
        elif "error" in message:
            self.greeting.set_exception(TargetError(f"the interpreter cannot import JAX: {message['error']}"))
        else:
            with self.lock:
                answer = self.pending.pop(message["id"])
            answer.set_result(message["outcome"])

    def _last_words(self) -> str:
        try:
            lines = (self.root / "stderr").read_text(errors="replace").strip().splitlines()
        except OSError:
            return "no message"
        return lines[-1] if lines else "no message"
