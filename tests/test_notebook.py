"""Notebooks as the programs that they are."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jaxshrink.errors import InputError
from jaxshrink.magics import python
from jaxshrink.notebook import script


def notebook(*cells: str, **metadata: Any) -> bytes:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    prose = {"cell_type": "markdown", "source": "# No (Python"}
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": [prose, *code]}).encode()


CELLS = {
    "line magics": ("%matplotlib inline\nx = 1\n%load_ext autoreload", "x = 1"),
    "shell lines": ("!pip install jax \\\n    flax\nx = 1", "x = 1"),
    "help": ("x?\n?x\nx.y??  # what\nx = 1", "x = 1"),
    "trailing semicolon": ("x = 1;", "x = 1;"),
    "magic without its sign": ("pip install jax\nls = 3\ncd = 1", "ls = 3\ncd = 1"),
    "only statement of a block": ("if x:\n    %pwd\nelse:\n    !ls\ny", "if x:\n    pass\nelse:\n    pass\ny"),
    "modulo, not a magic": ("y = (x\n     %2)\nz = x \\\n    %2", "y = (x\n     %2)\nz = x \\\n    %2"),
    "inside strings": ("\"\"\"\n%a\n!b\n\"\"\"\nx = '''\nc?\n'''", "\"\"\"\n%a\n!b\n\"\"\"\nx = '''\nc?\n'''"),
    "quotes in comments": ("x = 1  # isn't\n%pwd\n# ''' (\n!ls", "x = 1  # isn't\n\n# ''' ("),
    "magics that run code": ("%time x = f(1)\n%timeit -n 10 -r3 f(2)\n%prun -s time f(3)", "x = f(1)\nf(2)\nf(3)"),
    "values of magics": ("x = %time f(1)\ny = %pwd", "x = f(1)\ny = None"),
    "output of the shell": (
        "files = !ls {folder} | head",
        "import subprocess; files = subprocess.getoutput(f'ls {folder} | head').splitlines()",
    ),
    "braces of the shell's": (
        "files = !awk '{print $1}' x",
        "import subprocess; files = subprocess.getoutput(\"awk '{print $1}' x\").splitlines()",
    ),
    "environment": (
        "%env A=b c\n%set_env D e\n%env A",
        "import os; os.environ['A'] = 'b c'\nimport os; os.environ['D'] = 'e'",
    ),
    "cell in another language": ("%%bash -e\nls", ""),
    "cell as it is": ("\n%%time\n%%capture out\n%pwd\nx = 1", "x = 1"),
    "timed cell": ("%%timeit -n 3 x = 1\nf(x)", "x = 1\nf(x)"),
    "written file": ("%%writefile -a m.py\nx = 1\n", "open('m.py', 'a').write('x = 1\\n')"),
    "indented cell": ("  x = 1\n  if x:\n    y", "x = 1\nif x:\n  y"),
}


@pytest.mark.parametrize(("cell", "expected"), CELLS.values(), ids=CELLS.keys())
def test_cell(cell: str, expected: str) -> None:
    assert python(cell).strip("\n") == expected


def run(text: str, folder: Path) -> str:
    (folder / "script.py").write_text(text)
    return subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_cells_in_order(tmp_path: Path) -> None:
    text = script(notebook("x = 1", "%%bash\nls", "", "%env A=3\nprint(x, os.environ['A'])"), "a.ipynb")
    assert text.startswith("x = 1\n\n")
    assert run(text, tmp_path) == "1 3\n"


def test_nbformat_3() -> None:
    cells = [{"cell_type": "code", "input": ["x = 1\n", "%pwd"]}, {"cell_type": "code", "input": "y = 2"}]
    data = {"nbformat": 3, "worksheets": [{"cells": cells[:1]}, {"cells": cells[1:]}]}
    assert script(json.dumps(data).encode(), "a.ipynb") == "x = 1\n\ny = 2\n"


def test_what_ipython_defines(tmp_path: Path) -> None:
    used = notebook("get_ipython().run_line_magic('pwd', '')\ndisplay(1, clear=True)")
    assert run(script(used, "a.ipynb"), tmp_path) == "1\n"
    own = notebook("def display(x): pass", "display(1)")
    assert script(own, "a.ipynb") == "def display(x): pass\n\ndisplay(1)\n"


def test_await(tmp_path: Path) -> None:
    cell = inspect.cleandoc("""
        import asyncio as a
        from math import *
        async def twice(x):
            await a.sleep(0)
            return x * 2
        text: str = '''
        kept'''
        y: int
        y, *z = await twice([1, 2])
        total = sum([x async for x in aiter_(z)])
        """)
    first = "async def aiter_(xs):\n    for x in xs:\n        yield x"
    text = script(notebook(first, cell, "print(y, z, total, twice.__name__, pi > 3, text, a.__name__)"), "a.ipynb")
    assert run(text, tmp_path) == "1 [2, 1, 2] 5 twice True \nkept asyncio\n"


def test_future_imports_come_first(tmp_path: Path) -> None:
    text = script(notebook("display(1)", "from __future__ import annotations; x: nothing = 2\nprint(x)"), "a.ipynb")
    assert run(text, tmp_path) == "1\n2\n"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"x = 1", "a.ipynb is no notebook: it holds no JSON"),
        (b"\xff\xfe\x00", "a.ipynb is no notebook: it holds no JSON"),
        (b"[1]", "a.ipynb is no notebook: its JSON has no cells"),
        (b'{"worksheets": [1]}', "a.ipynb is no notebook: its JSON has no cells"),
        (notebook(), "a.ipynb is a notebook without Python code"),
        (notebook("%%bash\nls", "# x\n%pwd"), "a.ipynb is a notebook without Python code"),
        (notebook("x", language_info={"name": "R"}), "a.ipynb is a notebook in r, not in Python"),
        (notebook("x = 1", "%pwd\nx = = 1"), r"code cell 2 of a.ipynb is not Python: invalid syntax \(line 2\)"),
        (notebook("return 1"), r"code cell 1 of a.ipynb is not Python: 'return' outside function \(line 1\)"),
        (notebook("x = '\0'"), "code cell 1 of a.ipynb .*null bytes"),
    ],
)
def test_no_program(data: bytes, complaint: str) -> None:
    with pytest.raises(InputError, match=f"^{complaint}$"):
        script(data, "a.ipynb")
