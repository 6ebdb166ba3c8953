from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from opencode_web.lib.importing import without_collections


@pytest.fixture(autouse=True)
def thaw() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def fail() -> None:
    with without_collections():
        assert not gc.isenabled()
        raise ImportError


def test_the_collector_is_off_inside_and_on_again_after_an_error() -> None:
    with pytest.raises(ImportError):
        fail()
    assert gc.isenabled()


def test_it_stays_off_for_who_had_it_off() -> None:
    gc.disable()
    with without_collections():
        pass
    assert not gc.isenabled()


def test_what_was_made_is_not_looked_at_again() -> None:
    with without_collections():
        made = [[number] for number in range(5_000)]
    assert gc.get_freeze_count() >= len(made)
