from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from django.utils import timezone

from sessions.events.parts import AnyPart, ToolState
from sessions.events.reasons import TurnReason, read_cause
from sessions.events.replay import rebuild
from sessions.events.types import SCHEMA_VERSION, SessionEvent, parse_event
from sessions.models import Compaction, ContextEpoch, Event, Project, Run, Session, TodoList
from sessions.present.old_logs import read_sentence
from teams.budgets.reasons import BudgetReason
from teams.models import Team, UsageEntry, User
from tests.sessions.projection import OUR_SENTENCES, texts_without_cause

# One log for each schema version that ever was. A log that is in somebody's database has to be
# readable for good: never change such a file, add the next one.
GOLDEN = sorted((Path(__file__).parent / "golden").glob("v*.json"))
AUTHOR = 4242


def _load(path: Path) -> Any:
    return json.loads(path.read_text())


def _names(union: Any, field: str) -> set[str]:
    return {model.model_fields[field].default for model in get_args(get_args(union)[0])}


def test_the_newest_log_has_every_kind_of_event_part_and_tool_state() -> None:
    newest = _load(GOLDEN[-1])
    parts = [row["data"]["part"] for row in newest["log"] if row["type"] == "part.updated"]
    assert newest["schema_version"] == SCHEMA_VERSION
    assert {row["type"] for row in newest["log"]} == _names(SessionEvent, "type")
    assert {part["type"] for part in parts} == _names(AnyPart, "type")
    states = {part["state"]["status"] for part in parts if part["type"] == "tool"}
    assert states == _names(ToolState, "status")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_event_is_read_and_written_back_as_it_was(path: Path) -> None:
    for row in _load(path)["log"]:
        event = parse_event(row["type"], row["data"])
        assert event.model_dump(mode="json", exclude_none=True, exclude={"type"}) == row["data"]


def test_the_newest_log_has_no_sentence_of_ours_without_its_cause() -> None:
    causes = [cause for row in _load(GOLDEN[-1])["log"] if (cause := read_cause(row["data"]))]
    assert {cause.reason for cause in causes} > {TurnReason.STOPPED_BY, BudgetReason.TEAM_REACHED}
    for row in _load(GOLDEN[-1])["log"]:
        found = [read_sentence(text, OUR_SENTENCES) for text in texts_without_cause(row["data"])]
        assert not any(found), row


def _restore(
    log: list[dict[str, Any]], directory: Path, schema_version: int = SCHEMA_VERSION
) -> Session:
    User.objects.create(pk=AUTHOR, email="gold@example.com", name="Gold")
    project = Project.objects.create(
        id="prj_golden",
        team=Team.objects.create(id="team_golden", slug="golden", name="Golden"),
        name="shop",
        host="local",
        directory=str(directory),
        source=Project.Source.FOLDER,
    )
    now = timezone.now()
    # Everything but the place comes from the log.
    session = Session.objects.create(
        id="ses_golden",
        project=project,
        state_since=now,
        created_at=now,
        updated_at=now,
        active_at=now,
    )
    Run.objects.create(session=session)
    Event.objects.bulk_create(
        Event(
            session=session,
            seq=row["seq"],
            type=row["type"],
            schema_version=schema_version,
            data=row["data"],
            time=datetime.fromisoformat(row["time"]),
        )
        for row in log
    )
    return session


def _rows(session: Session) -> dict[str, Any]:
    rows = {
        "session": Session.objects.filter(pk=session.pk).values().get(),
        "messages": list(session.messages.order_by("seq").values()),
        "parts": list(session.parts.order_by("seq", "id").values()),
        "inputs": list(session.inputs.order_by("admitted_seq").values()),
        "permissions": list(session.permissions.order_by("id").values()),
        "questions": list(session.questions.order_by("id").values()),
        "epochs": list(ContextEpoch.objects.filter(session=session).values()),
        "compactions": list(Compaction.objects.filter(session=session).values()),
        "todos": list(TodoList.objects.filter(session=session).values()),
        "usage": list(UsageEntry.objects.order_by("time").values()),
    }
    return dict(json.loads(json.dumps(rows, default=str)))


@pytest.mark.django_db
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_log_folds_into_the_rows_it_stands_for(path: Path, tmp_path: Path) -> None:
    golden = _load(path)
    session = _restore(golden["log"], tmp_path, golden["schema_version"])
    rebuild(session.pk)
    rows = _rows(session)
    assert set(rows) == set(golden["rows"])
    for name, expected in golden["rows"].items():
        assert rows[name] == expected, name
