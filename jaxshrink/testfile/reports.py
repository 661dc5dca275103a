"""What pytest and unittest say of tests that fail."""

from __future__ import annotations

import re

_UNITTEST = re.compile(r"^(?:FAIL|ERROR): (\w+) \((?:__main__|[\w.]+?)\.(\w+)(?:\.\1)?\)", re.MULTILINE)
_PYTEST = re.compile(r"^(?:FAILED|ERROR) [^\s:]+::(\S+)", re.MULTILINE)


def failed(output: str) -> tuple[str, ...]:
    """The selector of the first test that a runner says has failed; empty where there is none."""
    if (match := _UNITTEST.search(output)) is not None:
        return match[2], match[1]
    match = _PYTEST.search(output)
    return tuple(match[1].split("::")) if match else ()
