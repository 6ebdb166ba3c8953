from __future__ import annotations

from sessions.events.replay import read_rows, rebuild
from sessions.models import Session


def assert_log_equals_rows(session: Session) -> None:
    before = read_rows(session.pk)
    rebuild(session.pk)
    assert read_rows(session.pk) == before
