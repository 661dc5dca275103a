"""Small programs for property tests: full of scopes, loops and functions, and quick to run."""

from __future__ import annotations

import builtins
import dataclasses

from hypothesis import assume, settings
from hypothesis import strategies as st

VARIABLES = ("a", "b", "c")
FUNCTIONS = ("f", "g")
MOST_STEPS = 30

quick = settings(max_examples=50, deadline=None)
"""For property tests: few enough examples, and no example fails for being slow."""


class TooLong(BaseException):
    """The program goes on for more steps than a test needs."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A text that compiles."""

    text: str

    def run(self) -> list[object]:
        """What the program sees, and the exception that ended it."""
        return run(self.text)


def run(text: str) -> list[object]:
    """Runs a program; what it gave to `see` and the name of the exception that ended it."""
    seen: list[object] = []

    def see(value: object = None) -> object:
        if len(seen) > MOST_STEPS:
            raise TooLong
        seen.append(_shown(value))
        return value

    scope = {"see": see, "__builtins__": vars(builtins), "__name__": "program"}
    try:
        exec(compile(text, "program", "exec", dont_inherit=True), scope)
    except (Exception, TooLong) as error:
        seen.append(type(error).__name__)
    return seen


def _shown(value: object, depth: int = 3) -> object:
    """Numbers and lists as they are now; a list may hold itself."""
    if isinstance(value, list):
        return [_shown(item, depth - 1) for item in value[:5]] if depth else "..."
    return value if isinstance(value, int) else "something"


@st.composite
def programs(draw: st.DrawFn, without: tuple[str, ...] = ()) -> Program:
    """Programs of a few nested blocks, without certain statements. Some end in an exception, all compile."""
    bound = draw(st.sets(st.sampled_from(VARIABLES)))
    lines = [*(f"{name} = {i}" for i, name in enumerate(sorted(bound))), *_block(draw, 3, without)]
    program = Program("\n".join(lines) + "\n")
    assume(_compiles(program))
    return program


def _compiles(program: Program) -> bool:
    try:
        compile(program.text, "program", "exec", dont_inherit=True)
    except SyntaxError:  # a name both parameter and global, and the like
        return False
    return True


def _block(draw: st.DrawFn, depth: int, without: tuple[str, ...]) -> list[str]:
    return [line for _ in range(draw(st.integers(1, 4))) for line in _statement(draw, depth, without)]


def _statement(draw: st.DrawFn, depth: int, without: tuple[str, ...]) -> list[str]:
    simple = ("assign", "assign", "add", "see", "see", "del", "call")
    compound = ("def", "def", "class", "for", "if", "try")
    kinds = simple if depth == 0 else simple + compound
    kind = draw(st.sampled_from([each for each in kinds if each not in without]))
    name, function = draw(st.sampled_from(VARIABLES)), draw(st.sampled_from(FUNCTIONS))
    match kind:
        case "assign":
            return [f"{name} = {_expression(draw)}"]
        case "add":
            return [f"{name} += {_expression(draw)}"]
        case "see":
            return [f"see({_expression(draw)})"]
        case "del":
            return [f"del {name}"]
        case "call":
            return [f"see({function}({draw(st.sampled_from(('', name)))}))"]
    if kind == "class":  # straight code: whether a class has bound a name cannot be told from the text
        bound = draw(st.sampled_from(VARIABLES))
        lines = [f"{bound} = {_expression(draw)}", f"see({name})", f"see({_expression(draw)})"]
        return [f"class {draw(st.sampled_from((name, function)))}:", *_declaration(draw), *_indented(lines)]
    body = _indented(_block(draw, depth - 1, without))
    match kind:
        case "def":
            parameter = draw(st.sampled_from((name, f"{name}={_expression(draw)}")[: 1 if "default" in without else 2]))
            return [f"def {function}({parameter}):", *_declaration(draw), *body]
        case "for":
            return [f"for {name} in [{_expression(draw)}]:", *body]
        case "if":
            return [f"if {_expression(draw)}:", *body]
    return ["try:", *body, f"except NameError as {name}:", *_indented(_block(draw, depth - 1, without))]


def _declaration(draw: st.DrawFn) -> list[str]:
    keyword = draw(st.sampled_from(("", "", "global", "nonlocal")))
    return [f"    {keyword} {draw(st.sampled_from(VARIABLES))}"] if keyword else []


def _expression(draw: st.DrawFn, depth: int = 2) -> str:
    kinds = ("name", "name", "number", "list", "comprehension", "walrus", "lambda")
    kind, name = draw(st.sampled_from(kinds if depth else kinds[:1])), draw(st.sampled_from(VARIABLES))
    match kind:
        case "name":
            return name
        case "number":
            return str(draw(st.integers(0, 2)))
        case "list":
            return f"[{_expression(draw, depth - 1)}, {name}]"
        case "comprehension":
            return f"[{_expression(draw, depth - 1)} for {name} in [{_expression(draw, depth - 1)}, 1]]"
        case "walrus":
            return f"({name} := {_expression(draw, depth - 1)})"
    return f"(lambda {name}={_expression(draw, depth - 1)}: {_expression(draw, depth - 1)})()"


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
