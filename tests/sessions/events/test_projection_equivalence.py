from __future__ import annotations

from collections.abc import Callable

import pytest

from sessions.actions.control import request_stop
from sessions.actions.inbox import cancel_input, change_input, move_input
from sessions.actions.permissions import reply_permission
from sessions.actions.sessions import update_session
from sessions.events.replay import rebuild
from sessions.models import Event, Message, PermissionRequest, Project, Session
from teams.models import User
from tests.sessions.factories import make_session, prompt, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn

pytestmark = [pytest.mark.django_db, pytest.mark.each_database]


def _whole_turn(session: Session, alice: User) -> None:
    tell_whole_turn(session, alice)


def _two_turns(session: Session, alice: User) -> None:
    tell_whole_turn(session, alice)
    tell_whole_turn(session, alice, "and once more")


def _a_stream_that_is_still_open(session: Session, alice: User) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.text("half a", done=False)
    story.running("bash", {"command": "sleep 9"})


def _an_answered_request(session: Session, alice: User) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    request = PermissionRequest.objects.get(pk=story.waits("pytest -q"))
    reply_permission(session_access(alice, session), request, reply="always")


def _an_inbox_that_was_changed(session: Session, alice: User) -> None:
    prompt(alice, session, "first")
    gone, other, later = (
        prompt(alice, session, text, delivery="queue") for text in ("gone", "other", "later")
    )
    access = session_access(alice, session)
    cancel_input(access, gone.pk)
    change_input(access, other.pk, revision=0, text="another", delivery="steer")
    change_input(access, other.pk, revision=1, delivery="queue")
    move_input(access, later.pk, up=True)
    prompt(alice, session, "after them", delivery="queue")


def _a_stop(session: Session, alice: User) -> None:
    prompt(alice, session, "go")
    request_stop(session_access(alice, session))


def _a_session_that_was_put_away(session: Session, alice: User) -> None:
    access = session_access(alice, session)
    update_session(access, title="Renamed", metadata={"k": 1})
    update_session(access, archived_ms=1_700_000_000_000)
    update_session(access, archived_ms=0)


@pytest.mark.parametrize(
    "happen",
    [
        _whole_turn,
        _two_turns,
        _a_stream_that_is_still_open,
        _an_answered_request,
        _an_inbox_that_was_changed,
        _a_stop,
        _a_session_that_was_put_away,
    ],
)
def test_the_folded_log_equals_the_rows(
    happen: Callable[[Session, User], None], session: Session, alice: User
) -> None:
    happen(session, alice)
    assert Event.objects.filter(session=session).count() > 1
    assert_log_equals_rows(session)


def test_the_log_has_no_gap(session: Session, alice: User) -> None:
    _two_turns(session, alice)
    numbers = list(
        Event.objects.filter(session=session).order_by("seq").values_list("seq", flat=True)
    )
    assert numbers == list(range(1, len(numbers) + 1))
    assert Session.objects.get(pk=session.pk).seq == len(numbers)


def _history(session: Session) -> list[object]:
    return list(
        Message.objects.filter(session=session).order_by("seq").values_list("data", flat=True)
    )


def test_folding_again_changes_nothing_of_another_session(
    session: Session, alice: User, project: Project
) -> None:
    tell_whole_turn(session, alice)
    other = make_session(alice, project)
    Story(other, alice).ask("mine")
    before = _history(session)
    rebuild(other.pk)
    assert _history(session) == before
    assert len(_history(other)) == 1
