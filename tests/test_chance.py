"""Programs that may fail in one run and not in the next."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxshrink import chance
from jaxshrink import tree as trees
from jaxshrink.bundle import parse_with_origin
from jaxshrink.view import View
from tests.observing import observe


@pytest.mark.parametrize(
    "text",
    [
        "np.random.default_rng()",
        "rng = random.Random()",
        "random.choice([1, 2])",
        "np.random.uniform()",
        "numpy.random.rand(3)",
        "from random import shuffle\nshuffle(xs)",
        "seed = time.time_ns()",
        "os.urandom(4)",
        "threading.Thread(target=f).start()",
        "with ThreadPoolExecutor(2) as pool: pass",
        "def f(): return datetime.now()",
    ],
)
def test_takes_part(text: str) -> None:
    assert chance.takes_part(["import jax", text])


@pytest.mark.parametrize(
    "text",
    [
        "np.random.default_rng(0)",
        "random.Random('a')",
        "np.random.default_rng(seed=3)",
        "import jax\njax.random.uniform(key)",
        "from jax import random\nrandom.normal(key, (3,))",
        "import jax.random as random\nrandom.shuffle(key)",
        "from jax.random import choice\nchoice(key, 3)",
        "rng = np.random.default_rng(0)\nrng.uniform(0, 1)\nself.rng.choice(3)",
        "f(time.time)",
        "time.sleep(1)",
    ],
)
def test_takes_no_part(text: str) -> None:
    assert not chance.takes_part([text])


def pinned(text: str, folder: Path) -> list[str]:
    tree = parse_with_origin(text, "repro.py")
    return [trees.text(each) for each in chance.pinned(View(tree, observe(folder, text)))]


def test_the_answers_of_the_observed_run(tmp_path: Path) -> None:
    (text,) = pinned("import time\nstart = time.time_ns()\n{}[start % 7 + 100]", tmp_path)
    second = ast.parse(text).body[1]
    assert isinstance(second, ast.Assign) and isinstance(second.value, ast.Constant)
    assert isinstance(second.value.value, int) and second.value.value > 1e18


def test_seeds(tmp_path: Path) -> None:
    texts = pinned("import random\nrng = random.Random()\nrandom.seed()\n{}[rng]", tmp_path)
    assert texts == [
        f"import random\nrng = random.Random({seed})\nrandom.seed({seed})\n{{}}[rng]" for seed in range(chance.SEEDS)
    ]


def test_nothing_to_pin(tmp_path: Path) -> None:
    assert pinned("import threading\nthread = threading.Thread(target=print)\n{}[thread]", tmp_path) == []
