"""What a search asks, and of which runs."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import cast

import pytest

from jaxshrink.aim import Aim, floor
from jaxshrink.interest import Question
from jaxshrink.oracles import Oracles
from jaxshrink.outcome import End, Outcome, Tier


@pytest.mark.parametrize(
    ("traced", "asked"),
    [
        (Outcome(End.EXIT, code=0), Tier.WARM),  # so it fails when it computes
        (Outcome(End.EXIT, code=0, reads=(3,)), Tier.ABSTRACT),  # other numbers may have led it past the failure
        (Outcome(End.EXCEPTION, type="ValueError"), Tier.ABSTRACT),
        (Outcome(End.UNKNOWN), Tier.ABSTRACT),
    ],
)
def test_parts_are_not_traced_of_what_ends_well_when_it_is_traced(traced: Outcome, asked: Tier) -> None:
    main = SimpleNamespace(run=lambda texts, tier: [traced])
    found = Aim(cast("Question", None), Tier.ABSTRACT)
    assert floor(found, ast.parse("f()"), None, cast("Oracles", SimpleNamespace(main=main))).floor is asked
