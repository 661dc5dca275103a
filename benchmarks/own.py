"""Runs the command line of jaxshrink, and tells what its own process has used, apart from what it has started.

    own.py REPORT.json ARGUMENTS...
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path


def main() -> None:
    """Run it; the report has CPU seconds `own` and `others`, and `peak_bytes` of the own process."""
    report = Path(sys.argv.pop(1))
    from jaxshrink.cli import main as run

    try:
        run()
    finally:
        own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        told = {
            "own": own.ru_utime + own.ru_stime,
            "others": others.ru_utime + others.ru_stime,
            "peak_bytes": own.ru_maxrss << 10,
        }
        report.write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main()
