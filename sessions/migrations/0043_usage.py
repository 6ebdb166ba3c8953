"""Fill the rows of what was used from the logs that are there, some sessions at a time.

The same as `sessions.events.projectors.usage` does when such a log is folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from importlib import import_module
from itertools import groupby, islice
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

_KINDS = ("session.used", "message.updated", "message.removed")
# Not the whole events: a prompt has the patches of its turn in it.
_INFO = ("id", "role", "parentID", "providerID", "modelID")
_COLUMNS = (
    *("session", "seq", "type", "time"),
    *("data__cost", "data__tokens", "data__author_id", "data__message_id"),
    *(f"data__info__{name}" for name in _INFO),
)
_COUNTS = ("input", "output", "reasoning", "cache_read", "cache_write")
_SESSIONS = 100
_ROWS = 500


def _fill(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    usage = apps.get_model("teams", "UsageEntry")
    rows = (usage(**columns) for columns in _entries(apps))
    while some := list(islice(rows, _ROWS)):
        # Going back to the migration before leaves the rows.
        usage.objects.bulk_create(some, ignore_conflicts=True)
    # Migrations of teams that came later may have run before this one, and summed up no rows.
    if hasattr(apps.all_models["teams"].get("spend"), "model"):
        import_module("teams.migrations.0022_fill_spend")._fill(apps, editor)
        import_module("teams.migrations.0041_fill_model_spend").fill(apps, editor)


def _entries(apps: StateApps) -> Iterator[dict[str, Any]]:
    people = set(apps.get_model("teams", "User").objects.values_list("pk", flat=True))
    sessions = apps.get_model("agent_sessions", "Session").objects.order_by("pk")
    events = apps.get_model("agent_sessions", "Event").objects.filter(type__in=_KINDS)
    last = ""
    while True:
        heads = sessions.filter(pk__gt=last).values("pk", "owner", "project", "project__team")
        known = {head["pk"]: head for head in heads[:_SESSIONS]}
        if not known:
            return
        # In the order of the database, whose collation is not Python's.
        *_, last = known
        log = events.filter(session__in=list(known)).order_by("session", "seq").values(*_COLUMNS)
        for session_id, own in groupby(log, key=lambda row: str(row["session"])):
            for entry in _of_session(known[session_id], own):
                yield entry if entry["user_id"] in people else {**entry, "user_id": None}


def _of_session(head: dict[str, Any], log: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    answers: dict[str, dict[str, Any]] = {}
    authors: dict[str, int | None] = {}
    for row in log:
        message_id = row["data__info__id"]
        if row["type"] == "message.removed":
            answers.pop(row["data__message_id"], None)
            authors.pop(row["data__message_id"], None)
        elif row["type"] == "message.updated" and row["data__info__role"] == "assistant":
            answers.setdefault(message_id, row)
        elif row["type"] == "message.updated":
            authors.setdefault(message_id, row["data__author_id"])
        elif any((counts := _counts(row["data__tokens"])).values()) or Decimal(row["data__cost"]):
            answer = next(reversed(answers.values()), {})
            prompt = answer.get("data__info__parentID", "")
            yield {
                "id": f"{head['pk']}.{row['seq']}",
                "team_id": head["project__team"],
                "user_id": authors.get(prompt, head["owner"]),
                "session": head["pk"],
                "project": head["project"],
                "prompt": prompt,
                "provider": answer.get("data__info__providerID", ""),
                "model": answer.get("data__info__modelID", ""),
                "cost": Decimal(row["data__cost"]),
                "time": row["time"],
                **counts,
            }


def _counts(tokens: dict[str, Any]) -> dict[str, int]:
    cache = tokens["cache"]
    kinds = (tokens["input"], tokens["output"], tokens["reasoning"])
    return dict(zip(_COUNTS, (*kinds, cache["read"], cache["write"]), strict=True))


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0042_active"), ("teams", "0005_usage")]

    operations = [migrations.RunPython(_fill, migrations.RunPython.noop)]
