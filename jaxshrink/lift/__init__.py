"""The biggest cut: what failed, with the values that it had, in a program of its own."""

from jaxshrink.lift.captured import captured as captured
from jaxshrink.lift.captured import needs_frameworks as needs_frameworks
from jaxshrink.lift.computed import computed as computed
from jaxshrink.lift.proposals import lifted as lifted
