"""One set of runners for all tests of the kinds."""

from collections.abc import Iterator

import pytest

from tests.kinds.asking import Runners


@pytest.fixture(scope="session")
def runners() -> Iterator[Runners]:
    with Runners() as made:
        yield made
