"""The biggest cut: what failed, with the values that it had, in a program of its own."""

from jaxshrink.lift.proposals import lifted as lifted
