"""The scripts that tests become, as texts."""

from __future__ import annotations

import inspect

import pytest

from jaxshrink import testfile
from jaxshrink.errors import InputError

SCRIPTS = {
    "a fixture and parameters": (
        """
        import pytest
        gpu = pytest.mark.skipif(False, reason="none")
        @pytest.fixture
        def key():
            return 0
        @gpu
        @pytest.mark.parametrize("n", [1, pytest.param(2, id="two")])
        @pytest.mark.parametrize("dtype", ["f4", "i4"])
        def test_it(key, n, dtype):
            assert key
        if __name__ == "__main__":
            pytest.main()
        """,
        "test_it[i4-two]",
        """
        def key():
            return 0

        def test_it(key, n, dtype):
            assert key
        key_value = key()
        test_it(key_value, 2, 'i4')
        """,
    ),
    "all parameters in turn": (
        """
        import pytest as pt
        @pt.mark.parametrize("n", [1, 2])
        @pt.mark.parametrize("a, b", make())
        def test_it(n, a, b):
            with pt.raises(ValueError):
                pass
        """,
        "test_it",
        """
        import pytest as pt

        def test_it(n, a, b):
            with pt.raises(ValueError):
                pass
        for a, b in make():
            for n in [1, 2]:
                test_it(n, a, b)
        """,
    ),
    "a test case": (
        """
        from absl.testing import absltest, parameterized
        class ModelTest(parameterized.TestCase):
            def test_it(self): pass
        if __name__ == "__main__":
            absltest.main()
        """,
        "ModelTest::test_it",
        """
        from absl.testing import absltest, parameterized

        class ModelTest(parameterized.TestCase):

            def test_it(self):
                pass
        ModelTest.setUpClass()
        case = ModelTest('test_it')
        case.setUp()
        case.test_it()
        """,
    ),
    "several tests from one": (
        """
        from absl.testing import parameterized
        class ModelTest(parameterized.TestCase):
            @parameterized.parameters(1, 2)
            def test_it(self, n): pass
        """,
        "ModelTest::test_it",
        """
        from absl.testing import parameterized

        class ModelTest(parameterized.TestCase):

            @parameterized.parameters(1, 2)
            def test_it(self, n):
                pass
        ModelTest.setUpClass()
        for name in dir(ModelTest):
            if name.startswith('test_it'):
                case = ModelTest(name)
                case.setUp()
                getattr(case, name)()
        """,
    ),
    "asynchronous": (
        """
        import pytest_asyncio
        @pytest_asyncio.fixture
        async def key():
            yield 1
        async def test_it(key): pass
        """,
        "test_it",
        """
        async def key():
            yield 1

        async def test_it(key):
            pass
        import asyncio
        key_steps = key()
        key_value = asyncio.run(key_steps.__anext__())
        asyncio.run(test_it(key_value))
        """,
    ),
}


@pytest.mark.parametrize(("source", "selector", "expected"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_script(source: str, selector: str, expected: str) -> None:
    _, parts = testfile.split(f"t.py::{selector}")
    assert testfile.script(inspect.cleandoc(source), "/nowhere/t.py", parts) == inspect.cleandoc(expected) + "\n"


def test_split() -> None:
    assert testfile.split("a/t.py") == ("a/t.py", ())
    assert testfile.split("t.py::A::test_b") == ("t.py", ("A", "test_b"))
    assert testfile.split("t.py::test_b[x[1]::y]") == ("t.py", ("test_b[x[1]::y]",))
    assert testfile.split("odd[1].py") == ("odd[1].py", ())


def test_tests_in() -> None:
    source = """
    import unittest
    def test_a(): pass
    def helper(): pass
    class TestB:
        def test_c(self): pass
        class TestD:
            def test_e(self): pass
    class Base(unittest.TestCase):
        def test_f(self): pass
    class G(Base):
        def helper(self): pass
    """
    found = ["test_a", "TestB::test_c", "TestB::TestD::test_e", "Base::test_f", "G::test_f"]
    assert testfile.tests_in(inspect.cleandoc(source)) == found


@pytest.mark.parametrize(
    ("selector", "complaint"),
    [
        ("test_concat", r"t.py has no test test_concat: did you mean test_concatenate\?"),
        ("test_x", r"t.py has no test test_x: did you mean TestA::test_x\?"),
        ("Nothing::of_this", r"t.py has no test Nothing::of_this: its tests are test_concatenate, .*TestA::test_x"),
        ("TestA", "t.py::TestA is a class: name one of its tests, TestA::test_x"),
        ("test_concatenate[3]", r"test_concatenate has no parameters \[3\]: there are test_concatenate\[1-p\], .*"),
        ("test_fixture", "test_fixture asks for the fixture mocker, which jaxshrink finds nowhere"),
        ("test_request", "test_request uses request.config, which only pytest has: do without it there"),
        ("TestA::test_x[1]", r"test_x has no parameters \[1\]: it has none"),
    ],
)
def test_no_such_test(selector: str, complaint: str) -> None:
    source = """
    import pytest
    @pytest.mark.parametrize("n", ["p", "q"])
    @pytest.mark.parametrize("m", [1, 2])
    def test_concatenate(n, m): pass
    def test_fixture(mocker): pass
    def test_request(request): request.config.getoption("x")
    class TestA:
        def test_x(self): pass
    """
    with pytest.raises(InputError, match=f"^{complaint}$"):
        testfile.script(inspect.cleandoc(source), "t.py", selector.split("::"))
