from __future__ import annotations

import pytest

from opencode_web.lib.json import JsonObject
from sessions.events import live
from sessions.models import Session
from sessions.present.frame.rail import build_rows
from teams.models import User
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db


def detail(session: Session) -> str:
    (row,) = build_rows([Session.objects.get(pk=session.pk)])
    return row.detail


def test_a_row_names_the_call_that_runs_and_how_full_the_context_is(
    session: Session, alice: User
) -> None:
    told = Story(session, alice)
    told.ask("go")
    told.answer()
    assert detail(session) == "Running"
    told.done("read", {"filePath": "a.py"})
    first = told.running("bash", {"command": "pytest -q"})
    assert detail(session) == "Shell pytest -q"
    Session.objects.filter(pk=session.pk).update(
        agent="build", context_tokens=61_000, context_limit=100_000
    )
    assert detail(session) == "Shell pytest -q · 61 % context"
    told.done("bash", {"command": "pytest -q"}, "ok", id=first)
    assert detail(session) == "Running · Build · 61 % context"


def test_what_ran_in_an_earlier_answer_is_not_said(session: Session, alice: User) -> None:
    told = Story(session, alice)
    told.ask("go")
    told.answer()
    told.running("bash", {"command": "old"})
    told.answer()
    told.text("Well")
    assert detail(session) == "Running"


def test_lists_hear_of_the_begin_and_the_end_of_a_call_and_of_no_text(
    session: Session,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: object,
) -> None:
    heard: list[JsonObject] = []

    def publish(group: str, body: JsonObject) -> None:
        if group == live.rail_group(session.project.team_id):
            heard.append(body)

    monkeypatch.setattr(live, "publish", publish)
    told = Story(session, alice)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        told.ask("go")
        told.answer()
    for said, count in (
        (lambda: told.text("I look"), 0),
        (lambda: told.running("bash", {"command": "make"}, id="prt_call"), 1),
        (lambda: told.done("bash", {"command": "make"}, "ok", id="prt_call"), 1),
    ):
        heard.clear()
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
            said()
        assert len(heard) == count
