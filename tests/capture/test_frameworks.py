"""Programs that use frameworks, as people write them: what is captured fails in the same way without these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import battery
import pytest

FRAMEWORKS = {
    "linen": ("flax.linen", "optax"),
    "nnx": ("flax.nnx", "optax"),
    "equinox": ("equinox", "optax", "jaxtyping", "beartype", "jax.export"),
    "haiku": ("haiku", "optax", "jax.experimental.checkify"),
    "optax": ("optax", "chex"),
    "numpyro": ("numpyro.infer.autoguide", "optax"),
    "diffrax": ("diffrax", "equinox"),
}
"""What the programs of each file import."""


@pytest.mark.newest
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_captured_needs_no_framework(framework: str) -> None:
    modules = FRAMEWORKS[framework]
    for module in modules:
        pytest.importorskip(module.partition(".")[0])
    wrong = {}
    with closing(battery.Runner(*modules)) as plain, closing(battery.Runner("--watched", *modules)) as watched:
        for batch in battery.batches(f"frameworks/{framework}"):
            original = plain.run([{"source": one.source, "mode": "plain"} for one in batch])
            captured = watched.run([{"source": one.source, "mode": "failing"} for one in batch])
            texts = [(one["texts"] or ["pass"])[-1] for one in captured]
            again = plain.run([{"source": text, "mode": "plain"} for text in texts])
            for program, *answers, text in zip(batch, original, captured, again, texts, strict=True):
                if found := [*problems(*answers), *battery.foreign(text)]:
                    wrong[program.name] = [*found, text]
    assert not wrong, "\n\n".join(f"{name}:\n" + "\n".join(problems) for name, problems in wrong.items())


def problems(original: battery.Answer, captured: battery.Answer, again: battery.Answer) -> Iterator[str]:
    """What is wrong with how a program failed under capture, and how what was captured failed."""
    yield from captured["mistakes"]
    if original["error"] is None:
        yield "the program itself does not fail"
    elif battery.plain(captured["error"]) != battery.plain(original["error"]):
        yield f"under capture it fails with {captured['error']}, not {original['error']}"
    elif again["error"] is None or words(again["error"]) != words(original["error"]):
        yield f"what was captured fails with {again['error']}, not {original['error']}"


def words(error: list[str]) -> tuple[str, str]:
    """The name of an error's class, and its message but for places and the ways to attributes, which are keys then."""
    kind, message = error
    ways, places = r"(?<=argument )\w+[\w.\[\]']*|(?<=component )\w+[\w.\[\]']*", r"\w+ at \S+:\d+"
    return kind.rpartition(".")[2], str(battery.plain(re.sub(f"{ways}|{places}", "", message)))
