from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sessions.actions.rebuild import Difference, Unsettled, rebuild_session
from sessions.events.types import SessionStatus
from sessions.models import Event, Message, Part, PermissionRequest, Project, Session, SessionInput
from teams.models import User
from tests.sessions.factories import make_session, prompt, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db


def _run(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command("rebuild", *args, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def told(session: Session, alice: User) -> Story:
    return tell_whole_turn(session, alice)


def _damage(session: Session, story: Story) -> str:
    """Returns: the part that is lost."""
    part = Part.objects.filter(message=story.message_id, type="tool").latest("seq")
    lost = part.pk
    part.delete()
    Session.objects.filter(pk=session.pk).update(title="Wrong", cost=9)
    Message.objects.filter(pk=story.prompt_id).update(data={})
    return str(lost)


def test_rows_that_are_right_stay_as_they_are(session: Session, told: Story) -> None:
    assert rebuild_session(session.pk, write=True) == []
    assert_log_equals_rows(session)


def test_it_says_what_differed_and_puts_it_right(session: Session, told: Story) -> None:
    title = Session.objects.get(pk=session.pk).title
    lost = _damage(session, told)
    Part.objects.create(
        id="prt_extra", message_id=told.prompt_id, session=session, type="text", seq=1, data={}
    )
    found = rebuild_session(session.pk, write=True)
    assert found == [
        Difference("Session", session.pk, "differed", ("title", "cost")),
        Difference("Message", told.prompt_id, "differed", ("data",)),
        Difference("Part", "prt_extra", "was not in the log"),
        Difference("Part", lost, "was missing"),
    ]
    assert str(found[0]) == f"Session {session.pk} differed: title, cost"
    assert Session.objects.get(pk=session.pk).title == title
    assert Part.objects.filter(pk=lost).exists()
    assert rebuild_session(session.pk, write=False) == []


def test_a_check_writes_nothing(session: Session, told: Story) -> None:
    lost = _damage(session, told)
    assert len(rebuild_session(session.pk, write=False)) == 3
    assert Session.objects.get(pk=session.pk).title == "Wrong"
    assert not Part.objects.filter(pk=lost).exists()


@pytest.mark.parametrize("state", ["busy", "waiting"])
def test_a_session_that_works_is_left_alone(session: Session, told: Story, state: Any) -> None:
    write(session, SessionStatus(state=state))
    Message.objects.filter(pk=told.prompt_id).update(data={})
    with pytest.raises(Unsettled):
        rebuild_session(session.pk, write=True)
    assert "skipped" in _run(session.pk)
    assert Message.objects.get(pk=told.prompt_id).data == {}


def test_people_who_are_gone_become_nobody(
    session: Session, alice: User, bob: User, project: Project
) -> None:
    own = make_session(bob, project)
    story = Story(own, bob)
    story.ask("hi")
    story.answer()
    story.replied(story.waits("ls"))
    story.finish()
    prompt(bob, Session.objects.get(pk=own.pk), "later", delivery="queue")
    write(own, SessionStatus(state="idle"))
    gone = bob.pk
    bob.delete()
    assert Event.objects.filter(session=own, data__author_id=gone).exists()
    assert rebuild_session(own.pk, write=True) == []
    fresh = Session.objects.get(pk=own.pk)
    assert fresh.owner is None
    assert {row.author for row in Message.objects.filter(session=own)} == {None}
    assert {row.author for row in SessionInput.objects.filter(session=own)} == {None}
    assert PermissionRequest.objects.get(session=own).replied_by is None
    assert session_access(alice, fresh).session == fresh


def test_the_command_does_all_sessions_or_some(
    session: Session, alice: User, project: Project, told: Story
) -> None:
    other = make_session(alice, project)
    Session.objects.filter(pk=other.pk).update(title="Wrong")
    out = _run("--all")
    assert out == (f"{other.pk}: Session {other.pk} differed: title\n2 checked, 1 differed.\n")
    assert _run(other.pk) == "1 checked, 0 differed.\n"


def test_a_check_that_finds_something_fails(session: Session, told: Story) -> None:
    assert _run("--all", "--check") == "1 checked, 0 differed.\n"
    Message.objects.filter(pk=told.prompt_id).update(data={})
    with pytest.raises(CommandError, match="Rows differ"):
        _run("--all", "--check")
    assert Message.objects.get(pk=told.prompt_id).data == {}


@pytest.mark.parametrize("args", [(), ("--all", "ses_x"), ("ses_unknown",)])
def test_it_has_to_know_which(args: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        _run(*args)
