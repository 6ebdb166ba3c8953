from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.events.store import append, lock_session
from sessions.events.types import SessionStatus
from sessions.inbox import not_begun, pending_inputs, promotion_events
from sessions.models import Project, Session
from sessions.present.frame.rail import build_rows, group_rows
from sessions.present.sessions import build_header
from teams.models import Role, User
from tests.sessions.factories import make_session, session_access

pytestmark = pytest.mark.django_db


def ask(user: User, session: Session, text: str = "Mend it") -> None:
    admit_prompt(session_access(user, session), PromptDraft(parts=[{"type": "text", "text": text}]))


def promote(session: Session) -> None:
    row = lock_session(session.pk)
    append(row, promotion_events(row, pending_inputs(row.pk)[:1]))


def end(session: Session) -> None:
    append(lock_session(session.pk), [SessionStatus(state="idle", outcome="done")])


def shown(session: Session) -> tuple[str, str]:
    session.refresh_from_db()
    header = build_header(session)
    (row,) = build_rows([Session.objects.get(pk=session.pk)])
    assert row.state == header.state
    (group,) = group_rows([row], role=Role.OWNER)
    return header.state, group.key


def test_a_prompt_is_queued_until_a_worker_has_taken_it(alice: User, session: Session) -> None:
    assert shown(session)[0] == "idle"
    ask(alice, session)
    assert shown(session) == ("queue", "queue")
    promote(session)
    assert shown(session) == ("run", "run")
    # What waits for the end of a turn is no session that waits.
    ask(alice, session, "And then this")
    assert shown(session) == ("run", "run")


def test_a_session_that_was_idle_is_queued_again(alice: User, session: Session) -> None:
    for _ in range(2):
        ask(alice, session)
        assert shown(session)[0] == "queue"
        promote(session)
        assert shown(session)[0] == "run"
        end(session)
        assert shown(session)[0] == "done"


def test_what_a_stop_has_held_is_queued_when_it_goes_on(alice: User, session: Session) -> None:
    ask(alice, session)
    promote(session)
    ask(alice, session, "Held")
    end(session)
    append(lock_session(session.pk), [SessionStatus(state="busy")])
    assert shown(session)[0] == "queue"
    promote(session)
    assert shown(session)[0] == "run"


def test_it_says_where_a_session_stands_in_line(alice: User, project: Project) -> None:
    waiting = [make_session(alice, project, agent="build") for _ in range(3)]
    for number, session in enumerate(waiting):
        ask(alice, session)
        since = timezone.now() - timedelta(seconds=30 - number)
        Session.objects.filter(pk=session.pk).update(state_since=since)
    rows = {row.id: row for row in build_rows([*Session.objects.all()])}
    said = [rows[session.pk].detail for session in waiting]
    assert said == [
        "Queued, next in line · Build",
        "Queued, 2nd in line · Build",
        "Queued, 3rd in line · Build",
    ]
    (group,) = group_rows(build_rows([*Session.objects.order_by("-state_since")]), role=Role.OWNER)
    assert [row.id for row in group.rows] == [session.pk for session in waiting]
    headers = [build_header(Session.objects.get(pk=session.pk)) for session in waiting]
    assert [header.state_text for header in headers] == [
        "Queued, next in line",
        "Queued, 2nd in line",
        "Queued, 3rd in line",
    ]
    with translation.override("de"):
        header = build_header(Session.objects.get(pk=waiting[2].pk))
    assert header.state_text == "Wartet, als 3. an der Reihe"


def test_idle_sessions_are_not_asked_about(
    session: Session, django_assert_num_queries: object
) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]  # pytest-django's fixture
        assert not_begun([session]) == set()
