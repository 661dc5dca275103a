"""Tidying as before and after."""

import ast
import inspect

import pytest

from jaxshrink.tidy import tidy
from jaxshrink.tokens import count_tokens

CASES = {
    "order of imports": (
        """
        import numpy as np
        import jax.numpy as jnp
        from functools import partial
        import jax
        x = np.ones(1)
        import sys
        jax.jit(partial(jnp.add, sys.argv))(x)
        """,
        """
        import sys
        from functools import partial

        import jax
        import jax.numpy as jnp
        import numpy as np

        x = np.ones(1)
        jax.jit(partial(jnp.add, sys.argv))(x)
        """,
    ),
    "conventional aliases": (
        """
        import jax.numpy as jp
        import numpy
        from jax import numpy as J
        from jax.experimental import pallas
        from jax.sharding import PartitionSpec
        f(jp.ones(1), numpy.zeros(2), J.zeros(3), pallas.load, PartitionSpec("x"), PartitionSpec("y"))
        """,
        """
        import jax.numpy as jnp
        import numpy as np
        from jax.experimental import pallas as pl
        from jax.sharding import PartitionSpec

        f(jnp.ones(1), np.zeros(2), jnp.zeros(3), pl.load, PartitionSpec("x"), PartitionSpec("y"))
        """,
    ),
    "from jax": (
        """
        from jax import lax, vmap
        from jax.sharding import PartitionSpec
        lax.scan(vmap(f), 0, PartitionSpec())
        """,
        """
        import jax

        jax.lax.scan(jax.vmap(f), 0, jax.sharding.PartitionSpec())
        """,
    ),
    "from jax where that is shorter": (
        """
        from jax import lax
        lax.add(lax.sub(lax.mul(1, 2), 3), 4)
        """,
        """
        from jax import lax

        lax.add(lax.sub(lax.mul(1, 2), 3), 4)
        """,
    ),
    "modules that jax does not load": (
        """
        from jax import experimental
        experimental.x
        """,
        """
        from jax import experimental

        experimental.x
        """,
    ),
    "a name that is taken": (
        """
        import jax.numpy as np
        jnp = 3
        import numpy
        def f(np2): return np.ones(jnp), numpy
        f(1)
        """,
        """
        import jax.numpy as np
        import numpy

        jnp = 3


        def f(np2):
            return np.ones(jnp), numpy


        f(1)
        """,
    ),
    "a parameter that is called like a module": (
        """
        from jax import lax
        def f(jax): return lax.add(jax, 1)
        f(1)
        """,
        """
        from jax import lax


        def f(jax):
            return lax.add(jax, 1)


        f(1)
        """,
    ),
    "imports of one module": (
        """
        import os, sys
        from numpy.linalg import inv
        from numpy.linalg import det
        from numpy.linalg import inv
        print(os, sys, inv, det)
        """,
        """
        import os
        import sys

        from numpy.linalg import det, inv

        print(os, sys, inv, det)
        """,
    ),
    "unused": (
        """
        import jax, os
        import numpy as np
        def f(x): return x
        print(np.ones(1))
        """,
        """
        import numpy as np

        print(np.ones(1))
        """,
    ),
    "surroundings before an import": (
        """
        import os
        os.environ["XLA_FLAGS"] = f"--n={2 * 2}"
        import jax.numpy as jnp
        import jax
        jax.jit(jnp.ones)(1)
        """,
        """
        import os

        os.environ["XLA_FLAGS"] = f"--n={2 * 2}"

        import jax.numpy as jnp
        import jax

        jax.jit(jnp.ones)(1)
        """,
    ),
    "the future and the docstring": (
        '''
        """What it is."""
        from __future__ import annotations
        import jax
        def f(x: A): return x
        jax.jit(f)(1)
        ''',
        '''
        """What it is."""

        from __future__ import annotations

        import jax


        def f(x: A):
            return x


        jax.jit(f)(1)
        ''',
    ),
    "tuples": (
        """
        def f(x): return (x, 1)
        a = (1, 2)
        b, c = (3, 4)
        d = ()
        for i in (a, b): print((i, c), d, (lambda: (1, 2))())
        assert (a, b)
        def g(): yield (1, 2)
        x[(1, 2)] = (5,)
        f(g)
        """,
        """
        def f(x):
            return x, 1


        a = 1, 2
        b, c = 3, 4
        d = ()
        for i in (a, b):
            print((i, c), d, (lambda: (1, 2))())
        assert (a, b)


        def g():
            yield (1, 2)


        x[1, 2] = (5,)
        f(g)
        """,
    ),
    "numbers": (
        """
        print(1e-06, 1e+20, -1.5e-10, 0.001, 100.0, 1e-06j, 'é', 2e-05, "1e-06")
        """,
        """
        print(1e-6, 1e20, -1.5e-10, 0.001, 100.0, 1e-6j, "é", 2e-5, "1e-06")
        """,
    ),
    "pass": (
        """
        pass
        def f(x):
            pass
            return x
        def g():
            pass
        class A:
            x = 1
            pass
        if f(g):
            pass
        else:
            print(A)
            pass
        """,
        """
        def f(x):
            return x


        def g():
            pass


        class A:
            x = 1


        if f(g):
            pass
        else:
            print(A)
        """,
    ),
}


def lines(text: str) -> str:
    return inspect.cleandoc("\n" + text) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_tidy(case: str) -> None:
    before, after = map(lines, CASES[case])
    assert tidy(ast.parse(before)) == after


@pytest.mark.parametrize("case", CASES)
def test_tidy_text_stays(case: str) -> None:
    after = lines(CASES[case][1])
    assert tidy(ast.parse(after)) == after


@pytest.mark.parametrize("case", CASES)
def test_only_imports_may_grow(case: str) -> None:
    before, after = (ast.parse(lines(text)) for text in CASES[case])
    for tree in (before, after):
        tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if case != "from jax":
        assert count_tokens(ast.unparse(after)) <= count_tokens(ast.unparse(before))


def test_environment() -> None:
    before = "import jax\nimport functools\nprint(functools.partial(jax.jit, 1))"
    after = """
        import functools
        import os

        os.environ["JAX_ENABLE_X64"] = "1"
        os.environ["XLA_FLAGS"] = "--a=\\"1\\" --b"

        import jax

        print(functools.partial(jax.jit, 1))
        """
    env = {"JAX_ENABLE_X64": "1", "XLA_FLAGS": '--a="1" --b'}
    text = tidy(ast.parse(before), env)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(lines(after)))
    assert tidy(ast.parse(text)) == text


def test_environment_of_a_program_that_imports_os() -> None:
    text = tidy(ast.parse("import os\nimport jax\nprint(os.sep, jax)"), {"A": "1"})
    assert text == 'import os\n\nos.environ["A"] = "1"\n\nimport jax\n\nprint(os.sep, jax)\n'
