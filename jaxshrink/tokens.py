"""The size of a program: tokens, lines of code, bytes.

A token is a name, number, string (an f-string counts once) or operator; comments, line ends and
indentation do not count. The numbers are the same whichever Python counts.
"""

from __future__ import annotations

import io
import tokenize

_COUNTED = frozenset({tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP})
# From Python 3.12 on an f-string comes in pieces, and from 3.14 on a t-string does.
_OPENS = frozenset({getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")})
_CLOSES = frozenset({getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")})


def count_tokens(text: str) -> int:
    """Number of tokens. Raises SyntaxError or tokenize.TokenError on text that is no Python."""
    total = depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _OPENS:
            total += depth == 0
            depth += 1
        elif token.type in _CLOSES:
            depth -= 1
        elif depth == 0 and token.type in _COUNTED:
            total += 1
    return total


def count_lines(text: str) -> int:
    """Number of lines that hold more than blanks or a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def count_bytes(text: str) -> int:
    """Number of bytes in UTF-8."""
    return len(text.encode("utf-8", "surrogateescape"))
