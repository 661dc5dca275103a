"""Failing programs of any length: real layers, helpers and experiments, and a failing core somewhere among them.

A program is made of parts (`parts/fillers`, one of `parts/cores`), each with its own names and sizes. All are defined,
some are called, one after the other and each with what the one before gave; the core is called among these.
What comes after it never runs, as in a program that people have.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

PARTS = Path(__file__).parent / "parts"

CALLED = 0.2
"""The share of the fillers that the program calls."""

STAGE = 8
"""Calls that one stage makes."""

ADJECTIVES = (
    "amber arctic brisk coarse cobalt copper coral crimson dense distant dusty early eastern fallow fine gentle "
    "golden granite hidden hollow indigo inner ivory late lateral linear lower lunar maple marble mellow narrow "
    "northern olive outer pale polar quiet rapid robust rustic saffron shallow silver slate solar southern sparse "
    "stable steady subtle tidal timber upper vivid western winter wooden"
).split()
NOUNS = (
    "arch basin beacon bridge canyon cedar channel cliff comet cove crest delta dune ember fern field fjord forge "
    "garden glade grove harbour heron inlet island kiln lagoon lantern ledge marsh meadow mill orchard otter "
    "pebble pine plateau prairie quarry reef ridge river sparrow spring summit thicket tower valley vessel willow"
).split()


@dataclasses.dataclass(frozen=True)
class Program:
    """A program's text, and the type and the beginning of the message of the exception in which it ends."""

    text: str
    exception: str
    message: str


def generate(lines: int, seed: int) -> Program:
    """A program of about so many lines, the same for the same arguments; `seed` alone says which core fails in it."""
    rng = random.Random(seed)
    cores = sorted((PARTS / "cores").glob("*.py"))
    heading, core = cores[seed % len(cores)].read_text(encoding="utf-8").split("\n", 1)
    exception, message = heading.removeprefix("# ").split(": ", 1)
    fillers = [path.read_text(encoding="utf-8") for path in sorted((PARTS / "fillers").glob("*.py"))]
    names = _names(rng)
    head = (PARTS / "head.py").read_text(encoding="utf-8")

    parts: list[tuple[str, str]] = []
    failing = (next(names), core)
    length = sum(_length(text) for text in (head, core)) + 20  # and the main program
    while length < lines - min(map(_length, fillers)) / 2:
        name, text = next(names), rng.choice(fillers)
        parts.append((name, text))
        length += _length(text) + 2
    called = sorted(rng.sample(range(len(parts)), min(len(parts), max(1, round(CALLED * len(parts))))))
    calls = [parts[index][0] for index in called]
    calls.insert(rng.randint(0, len(calls)), failing[0])
    parts.insert(rng.randint(0, len(parts)), failing)

    texts = [head, *(_named(text, name, rng) for name, text in parts), _main(calls)]
    return Program("\n\n".join(text.strip("\n") + "\n" for text in texts), exception, message)


def _length(text: str) -> int:
    return text.count("\n")


def _names(rng: random.Random) -> Iterator[str]:
    pairs = [f"{adjective}_{noun}" for adjective, noun in itertools.product(ADJECTIVES, NOUNS)]
    rng.shuffle(pairs)
    return iter(pairs)


def _named(text: str, name: str, rng: random.Random) -> str:
    """A part with its own names and sizes."""
    steps = rng.choice((3, 5, 7))
    values = {
        "SIZE": rng.choice((8, 12, 20, 28, 36)),
        "STEPS": steps,
        "TOTAL": steps * rng.choice((4, 6, 10)),
    }
    for word, value in values.items():
        text = re.sub(rf"(?<![A-Z_]){word}(?![A-Z_])", str(value), text)
    text = re.sub(r"(?<![a-z])part(?![a-z])", name, text)
    return re.sub(r"\bPart", "".join(word.title() for word in name.split("_")), text)


def _main(calls: Sequence[str]) -> str:
    """Stages that call some parts each, and what runs the stages."""
    stages = [calls[start : start + STAGE] for start in range(0, len(calls), STAGE)]
    lines: list[str] = []
    for index, names in enumerate(stages):
        lines += [f"def stage_{index}(key, x, config):", f'    """Part {index + 1} of the analysis."""']
        lines += [f"    keys = jax.random.split(key, {len(names)})"]
        lines += [f"    x = run_{name}(keys[{at}], x, config)" for at, name in enumerate(names)]
        lines += ["    return x", "", ""]
    lines += [
        "def main(config):",
        '    """All stages, one after the other."""',
        "    key = jax.random.PRNGKey(config.seed)",
        "    data_key, key = jax.random.split(key)",
        "    x = make_batch(data_key, config)",
        f"    stages = [{', '.join(f'stage_{index}' for index in range(len(stages)))}]",
        "    for index, stage in enumerate(stages):",
        "        x = stage(jax.random.fold_in(key, index), x, config)",
        '        print(describe(f"stage {index}", x))',
        "    return x",
        "",
        "",
        'if __name__ == "__main__":',
        "    main(Config(seed=1))",
    ]
    return "\n".join(lines)
