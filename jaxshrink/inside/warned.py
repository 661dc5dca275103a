"""Where a program stands when it is warned of what is looked for: by itself, it goes on and tells nobody.

Runs in the target interpreter.
"""

import re
import sys
import warnings

_PASSED_OVER = (warnings.__file__,)


def listen(match, tell):
    """Call `tell(frame)` with the frame of the first warning that shows what the pattern matches."""
    show, told = warnings.showwarning, []

    def showwarning(message, category, filename, lineno, file=None, line=None):
        if not told and re.search(match, warnings.formatwarning(message, category, filename, lineno, line), re.M):
            told.append(message)
            tell(_outside(sys._getframe(1)))
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = showwarning


def _outside(frame):
    """The innermost frame of what warns."""
    while frame.f_back is not None and frame.f_code.co_filename in _PASSED_OVER:
        frame = frame.f_back
    return frame
