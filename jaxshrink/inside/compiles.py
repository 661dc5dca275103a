"""Which functions are compiled in a run, and why again: what JAX logs of it is read and not shown.

Runs in the target interpreter.
"""

import contextlib
import logging
import os
import re
import sys
import threading

_LOGGERS = (
    "jax._src.interpreters.pxla", "jax._src.interpreters.partial_eval", "jax._src.pjit", "jax._src.compiler",
    "jax._src.compilation_cache",
)  # fmt: skip
_COMPILING = re.compile(r"Compiling (?:jit\((.+?)\)|(.+?))(?: for| \(\d+\))?(?: with global | for \d+ )(.*)", re.S)
_MISS = re.compile(r"TRACING CACHE MISS")
_OF_EXPLAINING = re.compile(r"(TRACING|PERSISTENT COMPILATION) CACHE MISS|(Not w|W)riting .*persistent .*cache")
_TYPES = "input types"
_WEAK = ", weak_type=True"
_DIFFERENCE = re.compile(r"^ +\* at .*$", re.MULTILINE)
_TYPE = re.compile(r"\w+\[[^]]*\]")  # without what JAX says of its weakness and sharding
_SEEN = re.compile(r"^  for (.+?)(?: defined at (.*))?$", re.MULTILINE)
_UNSEEN = re.compile(r"^  never seen function:\n    (.+?) id=\d+(?: defined at (.*))?$", re.MULTILINE)
_REASONS = (
    (re.compile(r"tree_util\.Static'|explanation unavailable"), "static argument"),
    (re.compile(r"[Tt]racing context doesn't match"), "config"),
    (re.compile(r"different input pytree|never seen input pytree|never seen passing"), "tree structure"),
    (re.compile(r"different input types|never seen input type"), _TYPES),
)


def listen(tell, is_outermost=None):
    """Call `tell(name, reason)` for each compilation from now on that this process does.

    `reason` says in what a call differs from the earlier ones: "never seen function", "new function object" (one more
    from the same `def`), "static argument", "input types", "weak type", "tree structure", "config", "sharding" (or
    other things that only compiled code depends on); it is empty where JAX does not say, as of its own functions.

    `is_outermost`: in an abstract run nothing is compiled, and what is traced where this says yes would be. Then no
    "sharding" is told. Gives the listener, whose `begin` says that what comes is another program's.
    """
    listener = _Listener(tell, is_outermost)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.addFilter(listener)
    if "jax" in sys.modules:
        with contextlib.suppress(AttributeError):  # older than the option
            sys.modules["jax"].config.update("jax_explain_cache_misses", True)
    else:
        os.environ["JAX_EXPLAIN_CACHE_MISSES"] = "1"
    return listener


class _Listener(logging.Filter):
    """Hears what is logged, and lets through what would be shown without it."""

    def __init__(self, tell, is_outermost):
        super().__init__()
        self.tell, self.is_outermost = tell, is_outermost
        self.process, self.lock = os.getpid(), threading.Lock()
        self.explained = "JAX_EXPLAIN_CACHE_MISSES" in os.environ
        self.begin()

    def begin(self):
        self.defined = set()  # (name, place) of functions that were traced
        self.types, self.strong_types = set(), set()  # (name, types of arguments), with and without what is weak
        self.misses = {}  # name -> reason, of what was traced and is not yet compiled; "sharding" afterwards

    def filter(self, record):
        message = record.getMessage()
        compiling = _COMPILING.match(message)
        if os.getpid() == self.process:
            with self.lock:
                if compiling and self.is_outermost is None:
                    self._compiled(compiling[1] or compiling[2], compiling[3].partition(". Argument mapping")[0])
                elif _MISS.match(message):
                    self._traced(message)
        if _OF_EXPLAINING.match(message) and not self.explained:
            return False
        return record.levelno >= logging.getLogger(record.name).parent.getEffectiveLevel()

    def _traced(self, message):
        new = _UNSEEN.search(message)
        function = new or _SEEN.search(message)
        if function is None or "-packages" in (function[2] or ""):
            return
        name, place = function.groups()
        if new:
            reason = "new function object" if (name, place) in self.defined else "never seen function"
            self.defined.add((name, place))
        else:
            reason = _reason(message)
        name = name.rpartition(".")[2]
        self.misses[name] = reason
        if self.is_outermost is not None and self.is_outermost():
            self.tell(name, reason)

    def _compiled(self, name, types):
        reason = self.misses.get(name, "")
        if name in self.misses:
            self.misses[name] = "sharding"
        key, strong = (name, types), (name, types.replace(_WEAK, ""))
        if reason == _TYPES and strong in self.strong_types and key not in self.types:
            reason = "weak type"  # JAX may have compared with another earlier call
        self.types.add(key)
        self.strong_types.add(strong)
        self.tell(name, reason)


def _reason(message):
    """The kind of difference that JAX has found between the key of a call and the nearest one in its cache."""
    reason = next((reason for pattern, reason in _REASONS if pattern.search(message)), "")
    differences = _DIFFERENCE.findall(message)
    if reason == _TYPES and differences and all(map(_is_same_type, differences)):
        return "weak type" if "weak_type=" in message else "sharding"
    return reason


def _is_same_type(difference):
    """Whether a line on how an argument differs tells twice of one shape and element type."""
    return len(set(_TYPE.findall(difference))) == 1
