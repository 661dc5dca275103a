"""The program's own files: what belongs to it, and importing it instrumented.

Runs in the target interpreter.
"""

import ast
import importlib.machinery
import os
import sys

import instrument


class Program:
    """The files below one folder. `passed_over` are (file, line) of statements that are left out."""

    def __init__(self, folder, passed_over=()):
        self.folder = os.path.join(os.path.realpath(folder), "")
        self.passed_over = set(map(tuple, passed_over))
        self.started = []  # (module name, relative file, is a package), as their execution starts
        self.names = set()

    def relative(self, file):
        """The path of one of the program's files below its folder; None for other files."""
        if not file.startswith(self.folder) or "site-packages" in file:
            return None
        return file[len(self.folder) :]

    def is_module(self, name):
        """Whether a module that has been imported is the program's own."""
        return name in self.names

    def is_top_level(self, name):
        """Whether `import name` would find a module of the program."""
        roots = [entry or self.folder for entry in sys.path if self.relative(os.path.join(entry, "")) is not None]
        paths = [os.path.join(root, name) for root in roots]
        return any(os.path.exists(path + ".py") or os.path.isdir(path) for path in paths)

    def start(self, name, file, package=False):
        self.names.add(name)
        self.started.append((name, self.relative(file), package))


class Finder:
    """Meta path finder for the modules of the program; leaves all others to those behind it."""

    def __init__(self, program, recorder):
        self.program, self.recorder = program, recorder

    def find_spec(self, name, path=None, target=None):
        if path is None:
            if not self.program.is_top_level(name):
                return None
        elif not any(self.program.relative(os.path.join(str(entry), "")) is not None for entry in path):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return spec
        if self.program.relative(spec.loader.path) is not None:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            spec.loader.finder = self
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Gives the code only: a frame of ours around its execution would show in tracebacks."""

    def get_code(self, fullname):
        program = self.finder.program
        code = compile_instrumented(self.get_data(self.path), self.path, fullname, program, self.finder.recorder)
        program.start(fullname, self.path, self.is_package(fullname))
        return code


def compile_instrumented(source, path, name, program, recorder):
    """The code of the module `name` of the program. Raises SyntaxError as a plain `compile` does."""
    tree = ast.parse(source, path)
    pass_over(tree, {line for file, line in program.passed_over if file == program.relative(path)})
    try:
        instrument.instrument(tree, program.relative(path), name, recorder.sites, program.is_top_level)
        recorder.grow()
        return compile(tree, path, "exec", dont_inherit=True)
    except RecursionError:  # an expression too deep for a second walk: its file goes unwatched
        recorder.grow()
        return compile(source, path, "exec", dont_inherit=True)


def pass_over(tree, lines):
    """Put `pass` in place of the innermost statements on these lines."""
    blocks = [value for node in ast.walk(tree) for _, value in ast.iter_fields(node) if isinstance(value, list)]
    for block in blocks if lines else ():
        for index, node in enumerate(block):
            simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
            if simple and not lines.isdisjoint(range(node.lineno, node.end_lineno + 1)):
                block[index] = ast.copy_location(ast.Pass(), node)
