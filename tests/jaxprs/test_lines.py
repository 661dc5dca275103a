"""Long lines are broken where it changes nothing."""

import ast

import pytest

from jaxshrink.jaxprs.lines import LONGEST, laid_out

NAME = "a_rather_long_name_of_a_variable"

LINES = {
    "call": f"x = f({NAME}, {NAME}, {NAME}, {NAME})",
    "call in a call": f"x = f(g({NAME}, {NAME}, {NAME}, h({NAME})))",
    "one argument": f"x = f({NAME} + {NAME} + {NAME} + {NAME})",
    "grouping": f"x = 0.5 * (1.0 + tanh({NAME} * {NAME} + {NAME} * {NAME}))",
    "subscript": f"x = y[{NAME} + {NAME} + {NAME} + {NAME}]",
    "subscript of several": f"x = y[{NAME}, {NAME}, {NAME}:{NAME}]",
    "list": f"x = [{NAME} + {NAME} + {NAME} + {NAME}]",
    "comprehension": f"x = [one + {NAME} + {NAME} + {NAME} for one in {NAME}]",
    "tuple of one": f"x = ({NAME} + {NAME} + {NAME} + {NAME},)",
    "strings with brackets": f"x = f('(', \"['\", {NAME}, {NAME}, {NAME})",
    "dictionary": f"x = {{'a': {NAME}, 'b': {NAME}, 'c': {NAME}}}",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_it_means_the_same(line):
    tree = ast.parse(line)
    text = laid_out(tree)
    assert ast.dump(ast.parse(text)) == ast.dump(tree)
    assert len(line) > LONGEST and len(text.splitlines()) > 1
