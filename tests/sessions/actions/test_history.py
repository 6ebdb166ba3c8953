from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Invalid, NotFound
from sessions.actions.history import delete_messages, delete_part, update_part
from sessions.actions.rest import SessionBusy
from sessions.actions.revert import revert_session
from sessions.models import Message, Part, Session
from teams.audit import AuditAction
from teams.models import AuditEntry, User
from tests.sessions.factories import session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def turns(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two")]


def _part(story: Story, type: str) -> Part:
    part = Part.objects.filter(message=story.message_id, type=type).order_by("seq").first()
    assert part is not None
    return part


def test_a_message_goes_with_its_parts(session: Session, alice: User, turns: list[Story]) -> None:
    delete_messages(session_access(alice, session), [turns[0].message_id])
    assert not Part.objects.filter(message=turns[0].message_id).exists()
    left = list(session.messages.order_by("seq").values_list("pk", flat=True))
    assert left == [turns[0].prompt_id, turns[1].prompt_id, turns[1].message_id]
    entry = AuditEntry.objects.get(action=AuditAction.MESSAGE_DELETED)
    assert entry.data == {"messages": [turns[0].message_id]}
    assert_log_equals_rows(session)


def test_several_go_together_or_none(session: Session, alice: User, turns: list[Story]) -> None:
    access = session_access(alice, session)
    with pytest.raises(NotFound):
        delete_messages(access, [turns[0].prompt_id, "msg_unknown"])
    assert session.messages.count() == 4
    delete_messages(access, [turns[0].prompt_id, turns[0].message_id])
    assert session.messages.count() == 2
    assert_log_equals_rows(session)


def test_a_part_goes_alone(session: Session, alice: User, turns: list[Story]) -> None:
    part = _part(turns[0], "tool")
    count = session.parts.count()
    delete_part(session_access(alice, session), turns[0].message_id, part.pk)
    assert session.parts.count() == count - 1
    assert not Part.objects.filter(pk=part.pk).exists()
    assert AuditEntry.objects.filter(action=AuditAction.PART_DELETED).count() == 1
    assert_log_equals_rows(session)


def test_a_part_is_found_below_its_own_message_only(
    session: Session, alice: User, turns: list[Story]
) -> None:
    with pytest.raises(NotFound):
        delete_part(session_access(alice, session), turns[1].message_id, _part(turns[0], "text").pk)


def test_deleting_the_last_of_a_rollback_ends_it(
    session: Session, alice: User, turns: list[Story]
) -> None:
    access = session_access(alice, session)
    revert_session(access, turns[1].prompt_id)
    delete_messages(access, [turns[1].prompt_id])
    assert Session.objects.get(pk=session.pk).revert != {}
    delete_messages(access, [turns[1].message_id])
    assert Session.objects.get(pk=session.pk).revert == {}
    assert_log_equals_rows(session)


def test_a_part_says_something_else(session: Session, alice: User, turns: list[Story]) -> None:
    part = _part(turns[0], "text")
    data = {**part.data, "text": "In other words"}
    changed = update_part(session_access(alice, session), turns[0].message_id, part.pk, data)
    assert changed.data["text"] == "In other words"
    assert changed.seq == part.seq
    assert AuditEntry.objects.filter(action=AuditAction.PART_EDITED).count() == 1
    assert_log_equals_rows(session)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": 7}, "text: Input should be a valid string"),
        ({"type": "nonsense"}, "type: Input tag"),
        ({"messageID": "msg_other"}, "cannot be changed"),
        ({"id": "prt_other"}, "cannot be changed"),
        ({"sessionID": "ses_other"}, "cannot be changed"),
        ({"color": "red"}, "color: Extra inputs"),
    ],
)
def test_a_part_that_is_wrong_is_refused_with_its_place(
    session: Session, alice: User, turns: list[Story], change: dict[str, Any], said: str
) -> None:
    part = _part(turns[0], "text")
    with pytest.raises(Invalid, match=said):
        update_part(
            session_access(alice, session), turns[0].message_id, part.pk, {**part.data, **change}
        )
    assert Part.objects.get(pk=part.pk).data == part.data


def test_a_call_cannot_be_put_back_before_its_end(
    session: Session, alice: User, turns: list[Story]
) -> None:
    part = _part(turns[0], "tool")
    state = {"status": "pending", "input": {"command": "rm -rf /"}, "raw": ""}
    with pytest.raises(Invalid, match="cannot be edited"):
        update_part(
            session_access(alice, session),
            turns[0].message_id,
            part.pk,
            {**part.data, "state": state},
        )


def test_nothing_is_taken_from_a_session_that_works(session: Session, alice: User) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    part = story.text("half")
    access = session_access(alice, session)
    data = Part.objects.get(pk=part).data
    for act in (
        lambda: delete_messages(access, [story.message_id]),
        lambda: delete_part(access, story.message_id, part),
        lambda: update_part(access, story.message_id, part, data),
    ):
        with pytest.raises(SessionBusy):
            act()
    assert Message.objects.filter(pk=story.message_id).exists()
