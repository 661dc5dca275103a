"""Messages of exceptions without what may change when the program shrinks.

Sizes, addresses, paths, and what the program calls its things are masked. Kinds of dtypes stay: whether an
array holds booleans or floats is often what the message is about, and a literal of each kind is equally short.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Set
from typing import TypeAlias

_Substitute: TypeAlias = str | Callable[[re.Match[str]], str]

_NUMBER = re.compile(r"(?<![\w.#])[-+]?(?:\d[\d_]*(?:\.\d+|\.(?=[^\s\w]))?|\.\d+)(?:[eE][-+]?\d+)?")
_DTYPE = r"(?:bool_?|u?int\d+|b?float\d+(?:_\w+)?|complex\d+|key<\w+>|(?:bf|f|s|i|u|c)\d+|pred)"
_SHAPE = r"(?<!\w)[\[(](?:[-+]?[\d.]++(?:,\s*)?)*+[\])]"
_NESTED = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
_TREE = rf"\b(?:PyTreeDef|CustomNode)\({_NESTED}\)"
_LIBRARY_CLASS = re.compile(r"<class '([\w.]+)'>")
_EXCEPTION_NAME = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*"
_EXCEPTION_LINE = re.compile(rf"({_EXCEPTION_NAME})(?::\s(.*))?$")
_TRACEBACK = "Traceback (most recent call last):"
_ABBREVIATIONS = r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)"


def masked(message: str, names: Set[str] = frozenset()) -> str:
    """The message with its variable parts masked. `names`: the identifiers and strings of the program."""
    for pattern, by in _masks(names):
        message = pattern.sub(by, message)
    return message.strip()


def first_sentence(message: str, names: Set[str] = frozenset()) -> str:
    """The masked first sentence, which ends at the latest with its line: sizes and lists of parts follow it."""
    line = masked(message.strip().split("\n")[0], names).rstrip(" :")
    return re.split(rf"(?<=[^.]){_ABBREVIATIONS}\.(?:\s|$)", line, maxsplit=1)[0]


def embedded(message: str, names: Set[str] = frozenset()) -> tuple[tuple[str, str], ...]:
    """The exceptions that the message quotes after its first line, as (type, masked first sentence)."""
    found = []
    after_traceback = False
    for i, line in enumerate(message.strip().split("\n")):
        match = _EXCEPTION_LINE.match(line)
        if i and match and (after_traceback or _is_exception(match[1])):
            found.append((match[1].rpartition(".")[2], first_sentence(match[2] or "", names)))
        if not line.startswith(" "):
            after_traceback = line.endswith(_TRACEBACK)
    return tuple(found)


def mismatches(message: str) -> frozenset[str]:
    """What of two arrays does not match, as JAX tells of parts of trees below the first line: shapes, dtypes and so on.

    Of dtypes also which kinds are told of there.
    """
    rest = message.strip().partition("\n")[2]
    found = set(re.findall(r"\bthe (dtypes|shapes|[\w ]+ types) do not match\b", rest))
    if "dtypes" in found:
        kinds = re.findall(rf"(?<!\w){_DTYPE}(?=\[)", rest)
        found.update("bfloat" if kind.startswith("bf") else _kind(kind) for kind in kinds)
    return frozenset(found)


def about_key(message: str, names: Set[str] = frozenset()) -> str:
    """A look-up's message: the key is what it is about, so only numbers and a class of the program are masked."""
    message = re.sub(r"^(?:type object )?'(\w+)' object", lambda m: "#name object" if m[1] in names else m[0], message)
    return _NUMBER.sub("#", message)


def _masks(names: Set[str]) -> list[tuple[re.Pattern[str], _Substitute]]:
    """What is masked, in this order."""
    return [
        (re.compile(r"0x[0-9a-fA-F]+"), "#"),
        (_LIBRARY_CLASS, lambda m: _class(m[1], names)),
        (re.compile(rf"\b(?:Abstract)?Mesh\({_NESTED}\)"), "#mesh"),
        (re.compile(rf"\b(?:P|PartitionSpec)\({_NESTED}\)"), "#spec"),
        (re.compile(r"<(?:function|bound method|module)\b[^<>]*(?:<[^<>]*>[^<>]*)*>"), "<#>"),
        (re.compile(r"<[\w. ]*object at #>"), "<#>"),
        (re.compile(r"(?:\S+ at )?(?:[A-Za-z]:)?[\w.\-\\/]+\.py(?::\d+)*(?:, line \d+)?"), "#path"),
        (re.compile(rf"(?<![\w#])({_DTYPE})\[[^\]]*\](?:\{{[^}}]*\}})?"), lambda m: f"#{_kind(m[1])}[]"),
        (re.compile(rf"(?<![\w#])({_DTYPE})\b"), lambda m: f"#{_kind(m[1])}"),
        (re.compile(r"(?<!\w)(['\"`])((?:(?!\1).)*)\1(?!\w)"), lambda m: _quoted(m[2], names)),
        (re.compile(r"\bfunction (?:<lambda>|[A-Za-z_][\w.]*)"), "function #name"),
        (re.compile(_TREE), "#tree"),
        (re.compile(r"(?<![\w#])[A-Za-z_]\w*(?:\[[^\]\s]*\])+(?:\.\w+|\[[^\]\s]*\])*"), "#part"),
        (re.compile(_SHAPE), "#shape"),
        (re.compile(r"\b(argument|parameter|path|name:) ([A-Za-z_]\w*)"), lambda m: f"{m[1]} {_word(m[2], names)}"),
        (re.compile(r"[A-Za-z_][\w.]*(?=\(\))"), lambda m: _word(m[0], names)),
        (_NUMBER, "#"),
        (re.compile(r"(#\w*(?:\[\])?|\w+\([^()]*\))(?:(?:,? and|,) \1)+"), r"\1"),  # a list of things of one kind
        (re.compile(r",\)"), ")"),
        (re.compile(r"\b(\w{3,})s\b"), r"\1"),  # one component, two components
        (re.compile(r"\s+"), " "),
    ]


def _kind(dtype: str) -> str:
    """The kind of a dtype in either of its spellings."""
    if dtype.startswith(("bool", "pred")):
        return "bool"
    if dtype.startswith(("float", "bfloat", "bf", "f")):
        return "float"
    if dtype.startswith("u"):
        return "uint"
    if dtype.startswith(("i", "s")):
        return "int"
    return "key" if dtype.startswith("key") else "complex"


def _class(name: str, names: Set[str]) -> str:
    """A class of the program is masked; the classes of arrays count as one."""
    last = name.rpartition(".")[2]
    if name.startswith("__main__.") or last in names:
        return "<#>"
    return "<array>" if last in ("ndarray", "ArrayImpl") else f"<class {name}>"


def _quoted(text: str, names: Set[str]) -> str:
    """What stands in quotes stays if it is a name that the program has not made, alone or in `'bij,bjk->bik'`."""
    if hasattr(builtins, text):
        return f"'{text}'"
    if text in names or not re.fullmatch(r"[A-Za-z_][\w.]+", text):
        return "#name"
    part = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    if any(part.search(name) for name in names if not re.search(r"\s", name)):
        return "#name"
    return f"'{_word(text, names)}'"


def _word(word: str, names: Set[str]) -> str:
    parts = word.split(".")
    return "#name" if parts[0] in names or parts[-1] in names or parts[0] == "__main__" else word


def _is_exception(name: str) -> bool:
    last = name.rpartition(".")[2]
    builtin = getattr(builtins, last, None)
    if isinstance(builtin, type):
        return issubclass(builtin, BaseException)
    return last.endswith(("Error", "Exception", "Warning"))
