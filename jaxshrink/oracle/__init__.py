"""Running candidates: `Runner` runs programs of one `Setting` and says how they end."""

from jaxshrink.oracle.runner import Runner
from jaxshrink.oracle.setting import Setting

__all__ = ["Runner", "Setting"]
