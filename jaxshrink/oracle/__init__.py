"""Running candidates: a `Runner` runs programs of one `Setting`, a `Command` the user's test of them."""

from jaxshrink.oracle.command import Command
from jaxshrink.oracle.runner import Runner
from jaxshrink.oracle.setting import Setting

__all__ = ["Command", "Oracle", "Runner", "Setting"]

Oracle = Runner | Command
