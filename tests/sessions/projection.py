from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any

from django.db import connection, transaction

from opencode_web.lib.json import JsonValue
from sessions.events.reasons import REASONS
from sessions.events.replay import FOLDED, read_rows, rebuild
from sessions.models import Event, Part, Session
from sessions.present.old_logs import patterns_of, read_sentence

# Of today, which have their cause beside them wherever they are stored.
OUR_SENTENCES = patterns_of({name: reason.sentence for name, reason in REASONS.items()})


def assert_log_equals_rows(session: Session) -> None:
    assert_part_ids_ascend(session)
    assert_our_sentences_have_causes(session)
    with transaction.atomic():
        stored = _stored_rows(session.pk)
        rebuild(session.pk)
        is_same = _stored_rows(session.pk) == stored
        transaction.set_rollback(not is_same)
    if not is_same:
        # A difference, or the keys of an object in another order.
        before = read_rows(session.pk)
        rebuild(session.pk)
        assert read_rows(session.pk) == before


def _stored_rows(session_id: str) -> list[list[Any]]:
    """Returns: what `read_rows` reads, as the database has it. To read that takes five times it."""
    rows = []
    with connection.cursor() as cursor:
        for model in FOLDED:
            table, key = model._meta.db_table, model._meta.pk.column
            own = key if model is Session else model._meta.get_field("session").column
            cursor.execute(f"SELECT * FROM {table} WHERE {own} = %s ORDER BY {key}", [session_id])
            rows.append(cursor.fetchall())
    return rows


def assert_part_ids_ascend(session: Session) -> None:
    # Clients keep the parts of a message sorted by their ids, and find them by bisection.
    rows = Part.objects.filter(session=session).order_by("message", "seq", "id")
    for _, parts in groupby(rows, key=lambda row: row.message_id):
        told = [(row.pk, row.data["type"]) for row in parts]
        assert told == sorted(told)


def assert_our_sentences_have_causes(session: Session) -> None:
    for kind, data in Event.objects.filter(session=session).values_list("type", "data"):
        for text in texts_without_cause(data):
            assert not _is_ours(text), (kind, text)


@cache
def _is_ours(text: str) -> bool:
    return read_sentence(text, OUR_SENTENCES) is not None


def texts_without_cause(data: JsonValue) -> Iterator[str]:
    """Returns: what events say to people, by the names of the fields, without a cause beside it.

    The error of a call is the model's, but for one that was interrupted.
    """
    if isinstance(data, dict) and "reason" not in data and "cause" not in data:
        metadata = data.get("metadata")
        marks = metadata if isinstance(metadata, dict) else {}
        is_cut = marks.get("interrupted") is True and "cause" not in marks
        names = ("detail", "message", "note", "body", *(("error",) if is_cut else ()))
        said = [data.get(name) for name in names]
        yield from (text.strip() for text in said if isinstance(text, str))
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for value in inner:
        yield from texts_without_cause(value)
