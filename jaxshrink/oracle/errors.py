"""What can be wrong with the target interpreter."""


class TargetError(Exception):
    """The interpreter that is to run the candidates cannot be started, or has no JAX. The message is a sentence."""
