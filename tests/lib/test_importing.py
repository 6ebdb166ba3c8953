from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator

import pytest

from opencode_web.lib.importing import without_collections, without_module


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


def test_an_optional_module_is_missing_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)
    with pytest.raises(ImportError), without_module("this"):
        importlib.import_module("this")
    assert "this" not in sys.modules
    with without_module("json"):
        assert importlib.import_module("json").loads("1") == 1
    assert "json" in sys.modules
