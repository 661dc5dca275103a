"""Jupyter notebooks: their code cells, in order, as the text of one program."""

from __future__ import annotations

import ast
import inspect
import json
import symtable
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from jaxshrink import magics
from jaxshrink import tree as trees
from jaxshrink.errors import InputError
from jaxshrink.scopes import Scopes

BUILTINS = {
    "display": "def display(*values, **options):\n    print(*values)\n",
    "get_ipython": "from unittest.mock import MagicMock as get_ipython\n",
}
"""What IPython defines for every cell, by harmless stand-ins."""


def script(data: bytes, name: str) -> str:
    """The program of the notebook `name`, nbformat 3 or 4. Raises InputError where there is none.

    Of magics and shell lines remains what `magics` keeps. Cells that await run under `asyncio.run`.
    """
    cells: list[str] = []
    futures: dict[str, None] = {}
    for number, source in enumerate(_code_cells(data, name), 1):
        tree = _parsed(cell := magics.python(source), f"code cell {number} of {name}")
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                futures[trees.text(statement) + "\n"] = None
                cell = _without(cell, statement)
        if tree.body:
            cells.append(_awaited(cell) if _is_async(cell) else cell)
    if not cells:
        raise InputError(f"{name} is a notebook without Python code")
    return "\n\n".join([*_head(cells, futures), *(cell.strip("\n") for cell in cells)]) + "\n"


def lines(data: bytes, name: str) -> Iterator[tuple[int, int, str]]:
    """(number of the cell of code, number of the line in it, text) of all lines of code. Raises as `script` does."""
    for number, source in enumerate(_code_cells(data, name), 1):
        yield from ((number, line, text) for line, text in enumerate(source.splitlines(), 1))


def _code_cells(data: bytes, name: str) -> Iterator[str]:
    try:
        notebook = json.loads(data)
    except ValueError:
        raise InputError(f"{name} is no notebook: it holds no JSON") from None
    match notebook:
        case {"cells": [*cells]}:
            pass
        case {"worksheets": [{"cells": list()}, *_] as sheets}:  # before nbformat 4
            cells = [cell for sheet in sheets for cell in sheet["cells"]]
        case _:
            raise InputError(f"{name} is no notebook: its JSON has no cells")
    if (language := _language(notebook)) not in ("python", "ipython"):
        raise InputError(f"{name} is a notebook in {language}, not in Python")
    for cell in cells:
        match cell:
            case {"cell_type": "code", "source": str() | list() as source}:
                yield _joined(source)
            case {"cell_type": "code", "input": str() | list() as source}:
                yield _joined(source)


def _joined(source: str | list[Any]) -> str:
    return "".join(map(str, source)).replace("\r\n", "\n")


def _language(notebook: dict[str, Any]) -> str:
    match notebook.get("metadata"):
        case {"language_info": {"name": str(name)}} | {"kernelspec": {"language": str(name)}}:
            return name.lower()
    return "python"


def _parsed(cell: str, where: str) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):
            _compiled(cell)
            return ast.parse(cell)
    except SyntaxError as error:
        place = f" (line {error.lineno})" if error.lineno else ""
        raise InputError(f"{where} is not Python: {error.msg}{place}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{where} cannot be parsed: {error}") from None


def _without(cell: str, statement: ast.stmt) -> str:
    """The cell with a statement at its top level blanked, in the same lines."""
    lines = cell.encode().split(b"\n")
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    before, after = lines[first][: statement.col_offset], lines[last][statement.end_col_offset :]
    lines[first : last + 1] = [before + b"pass" + after, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


def _head(cells: Iterable[str], futures: Iterable[str]) -> Iterator[str]:
    """What must come before the cells: imports from `__future__`, stand-ins for what IPython defines."""
    yield from filter(None, ["".join(futures).rstrip()])
    unbound = {node.id for node in Scopes(ast.parse("\n".join(cells))).unbound}
    yield from (text.rstrip() for name, text in BUILTINS.items() if name in unbound)


# -- cells that await


def _compiled(cell: str) -> Any:
    return compile(cell, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _is_async(cell: str) -> bool:
    with warnings.catch_warnings(action="ignore"):
        return bool(_compiled(cell).co_flags & inspect.CO_COROUTINE)


def _awaited(cell: str) -> str:
    """The cell as a coroutine function whose variables are the module's, and its run."""
    tree = ast.parse(cell)
    symbols = symtable.symtable(cell, "<cell>", "exec").get_symbols()
    names = sorted(each.get_name() for each in symbols if each.is_assigned() or each.is_imported())
    stars = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    body = [_plain(node) for node in tree.body if node not in stars]
    declared: list[ast.stmt] = [ast.Global(names)] if names else []
    run = ast.parse("import asyncio\nasync def cell():\n    pass\nasyncio.run(cell())")
    [place] = [node for node in ast.walk(run) if isinstance(node, ast.Pass)]
    run = trees.apply(run, [trees.Edit.replace(place, (*declared, *body))])
    return "\n".join([*map(trees.text, stars), trees.text(run)])


def _plain(statement: ast.stmt) -> ast.stmt:
    """A variable that is declared global cannot be annotated."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        value = statement.value
        return ast.copy_location(ast.Assign([statement.target], value) if value else ast.Pass(), statement)
    return statement
