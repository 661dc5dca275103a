"""Names: without the numbers that told them from others, once these are gone."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator

from jaxshrink import tree as trees
from jaxshrink.tree import Edit, Replacement
from jaxshrink.view import View

_NUMBERED = re.compile(r"(.*[^_])_\d+")


def unnumbered(view: View) -> Iterator[Edit]:
    """`f_1` is `f` where nothing else has that name."""
    nodes: dict[str, list[ast.AST]] = {}
    taken: set[str] = set(dir(builtins))
    for node in ast.walk(view.tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                nodes.setdefault(name, []).append(node)
            case ast.Constant(value=str(word)) | ast.keyword(arg=str(word)) | ast.Attribute(attr=word):
                taken.add(word)  # it may mean the same, or what is looked up by it
            case ast.alias(name=name, asname=asname):
                taken.add(asname or name.split(".")[0])
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                taken.update(several)
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                taken.add(name)
    changes: dict[ast.AST, Replacement] = {}
    for name, same in nodes.items():
        numbered = _NUMBERED.fullmatch(name)
        stem = numbered[1] if numbered else ""
        if stem and name not in taken and not keyword.iskeyword(stem) and stem not in taken | nodes.keys():
            taken.add(stem)
            changes.update((node, _renamed(node, stem)) for node in same)
    if changes:
        yield Edit(changes)


def _renamed(node: ast.AST, name: str) -> ast.AST:
    new = trees.shallow(node)
    setattr(new, {ast.Name: "id", ast.arg: "arg"}.get(type(node), "name"), name)
    return new
