from __future__ import annotations

from itertools import groupby

from sessions.events.replay import read_rows, rebuild
from sessions.models import Part, Session


def assert_log_equals_rows(session: Session) -> None:
    assert_part_ids_ascend(session)
    before = read_rows(session.pk)
    rebuild(session.pk)
    assert read_rows(session.pk) == before


def assert_part_ids_ascend(session: Session) -> None:
    # Clients keep the parts of a message sorted by their ids, and find them by bisection.
    rows = Part.objects.filter(session=session).order_by("message", "seq", "id")
    for _, parts in groupby(rows, key=lambda row: row.message_id):
        told = [(row.pk, row.data["type"]) for row in parts]
        assert told == sorted(told)
