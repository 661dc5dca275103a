"""Numbers as Python expressions."""


def nested(items):
    """Numbers in lists of lists."""
    if isinstance(items, list):
        return "[" + ", ".join(map(nested, items)) + "]"
    return number(items)


def number(value):
    """A number of Python, also one that has no literal."""
    if isinstance(value, float):
        return repr(value) if abs(value) < float("inf") else f'float("{value}")'
    if isinstance(value, complex) and not _is_sum(value):
        return f"complex({number(value.real)}, {number(value.imag)})"
    return repr(value)


def _is_sum(value):
    """Whether a complex number is what its `repr` says: a sum has no negative zeros, infinities are no literals."""
    read = complex(0.0 + value.real, 0.0 + value.imag)
    is_negative = value.real == 0 and value.imag < 0  # it is written as one less than nothing: -0.0-2j
    return abs(value) < float("inf") and str(read) == str(value) and not is_negative
