from __future__ import annotations

import time
from typing import Any

import pytest

from opencode_web import upkeep
from tests.races import race


@pytest.mark.django_db(transaction=True)
def test_processes_that_start_at_once_migrate_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def migrate(name: str, **_options: Any) -> None:
        time.sleep(0.2)
        done.append(name)

    monkeypatch.setattr(upkeep, "call_command", migrate)
    monkeypatch.setattr(upkeep, "has_pending_migrations", lambda: not done)
    faults = race(upkeep.migrate_if_needed, upkeep.migrate_if_needed)
    assert (faults, done) == ([None, None], ["migrate"])
