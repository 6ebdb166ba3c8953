"""Servers that all tests of a process share. Each module has a team of its own on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.installation import Installation, installation


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("installation")) as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def server(shared: Installation) -> Installation:
    assert shared.is_running, shared.log()
    shared.bootstrap()
    return shared


@pytest.fixture(scope="session")
def killable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("mortal")) as made:
        made.workers = 2
        yield made


@pytest.fixture
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One for which GitHub is played, by somebody who allows every sign-in."""
    with installation(tmp_path_factory.mktemp("played")) as made:
        made.env["DJANGO_SETTINGS_MODULE"] = "tests.e2e.played_settings"
        made.start()
        made.bootstrap()
        yield made


@pytest.fixture
def mortal(killable: Installation) -> Installation:
    """One that a test may kill or stop, with a team of its own."""
    if not killable.is_running:
        killable.start()
    killable.bootstrap()
    return killable
