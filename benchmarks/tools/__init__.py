"""The tools that are compared, in the order in which they take their turns: a file for each."""

from benchmarks.tools import cvise, jaxshrink, lines, pysource, shrinkray
from benchmarks.tools.tool import Job, Outcome, Tool

__all__ = ["OURS", "TOOLS", "Job", "Outcome", "Tool"]

OURS = jaxshrink.TOOL
"""What the others are held against."""

TOOLS = (OURS, shrinkray.TOOL, cvise.TOOL, pysource.TOOL, lines.TOOL)
