"""Tests as scripts: each must end as pytest says that the test does."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxshrink import testfile

FILES = {
    "conftest.py": '''
        """Fixtures for all."""
        from __future__ import annotations
        import json, os
        import pytest

        N = 7
        WIDTHS = [N, N + 1]
        os.environ["SET_BY_CONFTEST"] = "1"

        def helper(n): return f"conftest {n}"

        def pytest_exception_interact(node, call, report):
            error = call.excinfo
            with open(os.environ["OUTCOMES"], "a") as file:
                file.write(json.dumps([node.nodeid, f"{error.typename}: {error.value}"]) + "\\n")

        @pytest.fixture(scope="session")
        def key(): return helper(N)

        @pytest.fixture
        def data(key): return [key]

        @pytest.fixture(params=WIDTHS)
        def width(request): return helper(request.param)
        ''',
    "test_functions.py": """
        from __future__ import annotations
        import math, os, warnings
        from functools import partial
        import pytest as pt
        from pytest import mark, param

        N = 3
        ONE, TWO = 1, 2
        CASES = [(1, "a-b"), (2, "é")]
        NAMED = {"small": [1], "large": [1, 2]}
        slow = mark.slow if hasattr(mark, "never") else mark.filterwarnings("ignore")
        twice = mark.parametrize("y", [ONE, N])
        pytestmark = mark.filterwarnings("ignore::DeprecationWarning")
        log = []

        def helper(n): return f"test {n}"

        class Kind: pass

        @pt.fixture(autouse=True)
        def order(monkeypatch):
            monkeypatch.setenv("A", "b", prepend=":")
            monkeypatch.setattr("math.pi", 3)
            monkeypatch.setitem(NAMED, "x", 1)
            try:
                log.append("start")
                yield
            finally:
                log.clear()

        @pt.fixture(name="both", params=["s", param({}, id="p")], scope="module")
        def _both(request, key):
            log.append("both")
            return request.param, key

        @pt.fixture
        def data(data): return data + [helper(N)]

        def test_order(both, data): raise KeyError(both, data, log, os.environ["A"], math.pi, "x" in NAMED)

        def test_conftest(width): raise ValueError(width, os.environ["SET_BY_CONFTEST"])

        @mark.parametrize("a, b", CASES)
        @mark.parametrize("x", [None, 1.5, 1e-5, -1, True, b"q", "", "x[1]::y"])
        def test_plain(a, b, x): raise ValueError(a, b, x)

        by_name = [math.sin, lambda v: v, Kind, helper]
        @mark.parametrize("f", [*by_name, partial(helper, 1), [1], (), Kind(), param(1, id="p")])
        def test_objects(f): raise ValueError(type(f).__name__, getattr(f, "__name__", f == 1))

        @mark.parametrize("x", [1, 1, "a", "a", "a0"])
        @twice
        def test_equal(x, y): raise ValueError(x, y)

        @mark.parametrize(("name", "values"), NAMED.items(), ids=NAMED.keys())
        @mark.parametrize("x", [v * 2 for v in range(3)])
        def test_computed(name, values, x): raise ValueError(name, values, x)

        @mark.parametrize("x", sorted([3, 1]), ids=["one", "three"])
        @mark.parametrize("y", range(2), ids=lambda v: f"y={v}")
        def test_ids(x, y): raise ValueError(x, y)

        def generated():
            yield 1, "x"
            yield param(2, "y", id="second")
            yield 3, Kind

        @mark.parametrize("x, y", generated())
        def test_generated(x, y): raise ValueError(x, y if x < 3 else 0)

        @mark.parametrize("width", [5], indirect=True)
        @mark.parametrize("key", ["direct"])
        def test_indirect(width, data): raise ValueError(width, data)

        @mark.usefixtures("both")
        @mark.xfail(reason="not")
        def test_raises(tmp_path, capsys, request):
            (tmp_path / "x").write_text("1")
            print("shown")
            with pt.raises(KeyError):
                {}[1]
            raise ValueError(capsys.readouterr().out, request.node.name[:11], request.getfixturevalue("key"))

        @mark.filterwarnings("error:de:UserWarning")
        def test_warning(): warnings.warn("deep")

        def test_default(x=3): raise ValueError(x)

        def test_keywords(*, data): raise ValueError(data)
        """,
    "test_classes.py": """
        import unittest
        from unittest import TestCase, mock
        import pytest
        from .helpers import LIMIT

        done = []

        def setup_module(module): done.append(module.LIMIT)

        @pytest.mark.parametrize("n", [LIMIT])
        class TestModel:
            SIZES = [2, 3]

            @classmethod
            def setup_class(cls): cls.name = cls.__name__

            @pytest.fixture(autouse=True)
            def build(self, key): self.key = key

            def setup_method(self, method): self.method = method.__name__

            @pytest.mark.parametrize("m", SIZES)
            def test_it(self, m, n): raise ValueError(self.name, self.key, self.method, m, n, done)

        class TestOuter:
            @pytest.mark.parametrize("n", [LIMIT])
            class TestInner:
                @staticmethod
                def test_deep(n): raise ValueError(n, done)

        class Base(TestCase):
            @classmethod
            def setUpClass(cls): cls.made = [1]

            def setUp(self):
                super().setUp()
                self.x = 2

            def test_inherited(self): self.assertEqual(self.made, [self.x])

        class Derived(Base):
            def test_sub(self):
                for n in (2, 3, 4):
                    with self.subTest(n=n):
                        self.assertLess(n, 3)

            @mock.patch("os.sep", "|")
            @mock.patch("os.getcwd")
            def test_patched(self, getcwd): raise ValueError(self.x, getcwd is not None)

        class Waiting(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self): self.x = 3
            async def test_async(self): self.assertIsNone(self.x)

        if __name__ == "__main__":
            unittest.main()
        """,
    "helpers.py": "LIMIT = 9",
    "__init__.py": "",
    "pytest.ini": "[pytest]\nconfcutdir = .\n",
}

RUN = """
import json, os, runpy, sys, unittest.mock
import pytest  # once for all

for number in range(int(sys.argv[1])):
    if not os.fork():
        stdout = sys.stdout
        try:
            runpy.run_path(f"script{number}.py", run_name="__main__")
        except BaseException as error:
            print(json.dumps([number, f"{type(error).__name__}: {error}"]), file=stdout, flush=True)
        finally:
            os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (folder / name).write_text(inspect.cleandoc(text) + "\n")
    return folder


@pytest.fixture(scope="module")
def outcomes(project: Path) -> dict[str, str]:
    """How pytest says that each test fails."""
    told = project / "outcomes"
    options = ["-q", "-p", "no:cacheprovider", "--assert=plain", "--runxfail", "--import-mode=importlib"]
    command = [sys.executable, "-m", "pytest", *options]
    environment = {**os.environ, "OUTCOMES": str(told)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout
    found: dict[str, str] = {}
    for line in told.read_text().splitlines():
        node, outcome = json.loads(line)
        found.setdefault(node, outcome)
    return found


def run(texts: list[str], folder: Path) -> dict[str, str]:
    """How each script ends that fails."""
    for number, text in enumerate(texts):
        (folder / f"script{number}.py").write_text(text)
    command = [sys.executable, "-c", RUN, str(len(texts))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return {texts[number]: outcome for number, outcome in map(json.loads, done.stdout.splitlines())}


def of(project: Path, argument: str) -> str:
    path, selector = testfile.split(argument)
    return testfile.script((project / path).read_text(), str(project / path), selector)


def test_each_fails_as_in_pytest(project: Path, outcomes: dict[str, str]) -> None:
    assert len(outcomes) > 60
    scripts = {node: of(project, node) for node in outcomes}
    ends = run(list(scripts.values()), project)
    assert {node: ends.get(text) for node, text in scripts.items()} == outcomes
