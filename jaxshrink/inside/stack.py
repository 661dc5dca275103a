"""The failing stack: its frames, the transformations in it, and the library functions with public names.

Runs in the target interpreter.
"""

import itertools
import os
import sys

_TRANSFORMS = {
    "jit", "pmap", "vmap", "grad", "value_and_grad", "fwd_and_bwd", "jacfwd", "jacrev", "hessian", "jvp", "linearize",
    "vjp", "linear_transpose", "make_jaxpr", "eval_shape", "checkpoint", "shard_map", "pallas_call", "custom_jvp",
    "custom_vjp", "custom_gradient", "custom_root", "custom_linear_solve", "custom_vmap", "scan", "while_loop",
    "fori_loop", "cond", "switch", "map", "associative_scan", "pure_callback", "io_callback", "closure_convert",
    "named_call", "xmap", "checkify",
}  # fmt: skip
_SPELLINGS = {
    "_cpp_pjit": "jit", "_pjit_call_impl": "jit", "pjit": "jit", "remat": "checkpoint", "fun_remat": "checkpoint",
}  # fmt: skip
_DERIVATIVES = ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "vjp", "linearize")
_PARTS = ("value_and_grad", "vjp", "linearize", "jvp")
_MOST_FRAMES = 1000
_LIBRARY_ROOTS = ("site-packages", "dist-packages")


def of_traceback(traceback):
    """The entries of a Stack: where an exception came through."""
    return [(entry.tb_frame, entry.tb_lasti, entry.tb_lineno) for entry in _chain(traceback)]


def of_thread(frame):
    """The entries of a Stack: where a thread stands whose innermost frame is given (None: nowhere)."""
    entries = []
    while frame is not None:
        entries.append((frame, frame.f_lasti, frame.f_lineno or frame.f_code.co_firstlineno))
        frame = frame.f_back
    return entries[::-1]


class Stack:
    """Frames with their instruction and line, outermost first, from the program's first frame on."""

    def __init__(self, entries, program, names):
        self.program, self.names = program, names
        self.entries = list(itertools.dropwhile(lambda entry: self._file(entry) is None, entries))
        self._cut_import_hook()
        del self.entries[_MOST_FRAMES // 2 : -_MOST_FRAMES // 2]  # of an endless recursion both ends
        self.users = [index for index, entry in enumerate(self.entries) if self._file(entry) is not None]

    def frames(self):
        """As `Outcome.frames` has them: file, function, line, end line, column, end column, user."""
        return [self._frame(entry) for entry in self.entries]

    def user_frames(self, renderer):
        """The program's frames with their variables, innermost first."""
        result = []
        for index in reversed(self.users):
            frame, _, line = self.entries[index]
            file, function, line, end_line, column, end_column, _ = self._frame(self.entries[index])
            result.append({
                "position": index, "file": file, "function": function, "line": line, "end_line": end_line,
                "column": column, "end_column": end_column, "module": frame.f_globals.get("__name__", "__main__"),
                "locals": renderer.named(_variables(frame)),
            })  # fmt: skip
        return result

    def transforms(self):
        """Names of the JAX transformations between each two user frames, and behind the last."""
        result = []
        for outer, inner in zip(self.users, [*self.users[1:], -1]):
            between = self.entries[outer + 1 : inner if inner >= 0 else None]
            names = [name for name in map(self._transform, between) if name]
            if names:
                result.append({"between": [outer, inner], "names": _without_parts(names)})
        return result

    def library_calls(self, renderer):
        """Frames of library functions that have a public name, innermost first, with their arguments."""
        result = []
        for index in reversed(range(len(self.entries))):
            frame = self.entries[index][0]
            name = None if index in self.users else self.names.of_code(frame.f_code)
            if name:
                args, kwargs = _arguments(frame, self.names.defaults(frame.f_code))
                args, kwargs = renderer.refs(args), renderer.named(kwargs)
                result.append({"name": name, "args": args, "kwargs": kwargs, "frame": index})
        return result

    def _cut_import_hook(self):
        """Where a module of the program has a syntax error, show the import statement last, as Python does."""
        here = os.path.dirname(__file__)
        files = [entry[0].f_code.co_filename for entry in self.entries]
        ours = next((index for index, file in enumerate(files) if os.path.dirname(file) == here), None)
        if ours is not None:
            while files[ours - 1].startswith("<frozen importlib"):
                ours -= 1
            del self.entries[ours:]

    def _file(self, entry):
        return self.program.relative(entry[0].f_code.co_filename)

    def _frame(self, entry):
        frame, instruction, line = entry
        file = self._file(entry)
        end_line, column, end_column = _position(frame.f_code, instruction)
        user = file is not None
        name = file if user else library_path(frame.f_code.co_filename)
        return [name, frame.f_code.co_name, line, end_line, column, end_column, user]

    def _transform(self, entry):
        """The transformation whose own function, or a function made by it, runs in a frame."""
        code, namespace = entry[0].f_code, entry[0].f_globals
        if not str(namespace.get("__name__")).startswith("jax"):
            return None
        full = self.names.of_code(code) or self.names.of_code_outside(code, namespace) or ""
        outer = getattr(code, "co_qualname", code.co_name).partition(".")[0]
        name = _SPELLINGS.get(outer) or full.rpartition(".")[2]
        return name if name in _TRANSFORMS and not full.startswith("jax.tree") else None


def library_path(file):
    """The path below site-packages or the standard library; as it is for generated code."""
    parts = file.split(os.sep)
    for root in _LIBRARY_ROOTS:
        if root in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(root) :])
    standard = os.path.join(os.path.dirname(os.__file__), "")
    return file[len(standard) :].replace(os.sep, "/") if file.startswith(standard) else file


def _without_parts(names):
    """`grad` is made of `value_and_grad`, that of `vjp`, …: only what the program called."""
    kept = []
    for name in names:
        if not kept or (name != kept[-1] and not (kept[-1] in _DERIVATIVES and name in _PARTS)):
            kept.append(name)
    return kept


def _chain(traceback):
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _position(code, instruction):
    """(end line, column, end column) of an instruction, -1 where unknown (always before Python 3.11)."""
    if instruction < 0 or not hasattr(code, "co_positions"):
        return -1, -1, -1
    position = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    return tuple(-1 if one is None else one for one in position[1:])


def _variables(frame):
    variables = dict(frame.f_locals)  # a copy: its thread may go on
    return {name: value for name, value in variables.items() if not name.startswith((".", "__"))}


def _arguments(frame, defaults):
    """(args, kwargs) with which a frame's function was called, as far as its variables still tell."""
    code, variables = frame.f_code, frame.f_locals
    count = code.co_argcount
    names = code.co_varnames
    args, kwargs = [], {}
    for index, name in enumerate(names[: count + code.co_kwonlyargcount]):
        if name in defaults and variables.get(name, sys) is defaults[name]:
            continue
        if name not in variables:
            continue
        if index == len(args) and index < count:
            args.append(variables[name])
        else:
            kwargs[name] = variables[name]
    rest = count + code.co_kwonlyargcount
    if code.co_flags & 4:
        args += variables.get(names[rest], ()) if len(args) == count else ()
        rest += 1
    if code.co_flags & 8:
        kwargs.update(variables.get(names[rest], {}))
    return args, kwargs
