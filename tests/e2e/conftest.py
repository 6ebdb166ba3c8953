from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.installation import Installation, installation


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("installation")) as made:
        made.start()
        made.bootstrap()
        yield made


@pytest.fixture(scope="module")
def killable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("mortal")) as made:
        made.start()
        made.bootstrap()
        yield made


@pytest.fixture
def mortal(killable: Installation) -> Installation:
    """One that a test may kill or stop."""
    if not killable.is_running:
        killable.start()
    return killable
