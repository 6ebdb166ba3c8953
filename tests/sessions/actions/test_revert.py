from __future__ import annotations

from decimal import Decimal

import pytest

from opencode_web.lib.errors import NotFound
from sessions.actions.history import delete_messages
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.rest import SessionBusy
from sessions.actions.revert import revert_session, unrevert_session
from sessions.events.messages import Tokens
from sessions.events.types import SessionStatus, SessionUsed
from sessions.models import Event, Message, Part, Session
from sessions.wire import session_to_wire
from teams.audit import AuditAction
from teams.models import AuditEntry, User
from tests.sessions.factories import INLINE, prompt, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def turns(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two", "three")]


def _visible(session: Session) -> list[str]:
    fresh = Session.objects.get(pk=session.pk)
    return list(Message.objects.visible(fresh).order_by("seq").values_list("pk", flat=True))


def _ids(turns: list[Story]) -> list[str]:
    return [key for story in turns for key in (story.prompt_id, story.message_id)]


def test_everything_from_the_message_on_is_hidden_and_kept(
    session: Session, alice: User, turns: list[Story]
) -> None:
    changed = revert_session(session_access(alice, session), turns[1].prompt_id)
    assert session_to_wire(changed)["revert"] == {"messageID": turns[1].prompt_id}
    # It was told without any snapshot.
    assert changed.revert["restored"]["cause"]["reason"] == "files_unrecorded"
    assert _visible(session) == _ids(turns[:1])
    assert session.messages.count() == 6
    entry = AuditEntry.objects.get(action=AuditAction.SESSION_REVERTED)
    assert (entry.actor, entry.target_id) == (alice, session.pk)
    assert_log_equals_rows(session)


def test_an_answer_is_rolled_back_with_its_prompt(
    session: Session, alice: User, turns: list[Story]
) -> None:
    changed = revert_session(session_access(alice, session), turns[1].message_id)
    assert session_to_wire(changed)["revert"] == {"messageID": turns[1].prompt_id}


def test_an_answer_is_kept_up_to_a_part_when_it_has_something_to_keep(
    session: Session, alice: User, turns: list[Story]
) -> None:
    answer = Message.objects.get(pk=turns[1].message_id)
    parts = list(answer.parts.order_by("seq"))
    kept = revert_session(session_access(alice, session), answer.pk, part_id=parts[3].pk)
    assert session_to_wire(kept)["revert"] == {"messageID": answer.pk, "partID": parts[3].pk}
    assert _visible(session) == _ids(turns[:2])
    shown = Part.objects.visible(kept).filter(message=answer).order_by("seq")
    assert list(shown) == parts[:3]
    # Before the first text or tool there is nothing to go on from.
    whole = revert_session(session_access(alice, session), answer.pk, part_id=parts[1].pk)
    assert session_to_wire(whole)["revert"] == {"messageID": turns[1].prompt_id}
    assert_log_equals_rows(session)


def test_the_place_moves_earlier_and_later(
    session: Session, alice: User, turns: list[Story]
) -> None:
    access = session_access(alice, session)
    revert_session(access, turns[1].prompt_id)
    revert_session(access, turns[0].prompt_id)
    assert _visible(session) == []
    revert_session(access, turns[2].prompt_id)
    assert _visible(session) == _ids(turns[:2])


def test_everything_comes_back(session: Session, alice: User, turns: list[Story]) -> None:
    access = session_access(alice, session)
    revert_session(access, turns[0].prompt_id)
    restored = unrevert_session(access)
    assert restored.revert == {}
    assert _visible(session) == _ids(turns)
    assert AuditEntry.objects.filter(action=AuditAction.SESSION_UNREVERTED).count() == 1
    assert_log_equals_rows(session)


def _use(session: Session, context: int | None) -> None:
    used = {"context": context, "context_limit": context and 1_000}
    answer = SessionUsed(cost=Decimal(0), tokens=Tokens(), provider_id="x", model_id="m", **used)
    write(session, answer)


def test_the_context_in_use_goes_back_and_comes_back(session: Session, alice: User) -> None:
    access, turns = session_access(alice, session), []
    for context in (100, 300):
        turns.append(tell_whole_turn(session, alice))
        _use(session, context)
        _use(session, None)
    reverted = revert_session(access, turns[1].prompt_id)
    assert (reverted.context_tokens, reverted.context_limit) == (100, 1_000)
    restored = unrevert_session(access)
    assert (restored.context_tokens, restored.context_limit) == (300, 1_000)
    assert restored.cost == reverted.cost
    assert revert_session(access, turns[0].prompt_id).context_tokens == 0
    delete_messages(access, [turns[0].message_id])
    assert unrevert_session(access).context_tokens == 0
    assert_log_equals_rows(session)


def test_without_a_rollback_there_is_nothing_to_bring_back(
    session: Session, alice: User, turns: list[Story]
) -> None:
    before = Event.objects.count()
    unrevert_session(session_access(alice, session))
    assert Event.objects.count() == before
    assert not AuditEntry.objects.filter(action=AuditAction.SESSION_UNREVERTED).exists()


@pytest.mark.parametrize("state", ["busy", "waiting"])
def test_it_waits_until_the_session_is_at_rest(
    session: Session, alice: User, turns: list[Story], state: str
) -> None:
    write(session, SessionStatus(state=state))  # type: ignore[arg-type]  # one of its states
    access = session_access(alice, session)
    for act in (
        lambda: revert_session(access, turns[0].prompt_id),
        lambda: unrevert_session(access),
    ):
        with pytest.raises(SessionBusy) as refused:
            act()
        body = refused.value.to_json()
        assert body["_tag"] == "SessionBusyError"
        assert body["sessionID"] == session.pk
    assert _visible(session) == _ids(turns)


def test_what_is_not_there_is_not_found(session: Session, alice: User, turns: list[Story]) -> None:
    access = session_access(alice, session)
    with pytest.raises(NotFound):
        revert_session(access, "msg_unknown")
    elsewhere = Message.objects.get(pk=turns[0].message_id).parts.first()
    assert elsewhere is not None
    with pytest.raises(NotFound):
        revert_session(access, turns[1].message_id, part_id=elsewhere.pk)


def test_a_message_that_asks_for_no_reply_makes_it_final(
    session: Session, alice: User, turns: list[Story]
) -> None:
    access = session_access(alice, session)
    revert_session(access, turns[1].prompt_id)
    draft = PromptDraft(parts=[{"type": "text", "text": "note"}], model=INLINE)
    row = admit_prompt(session_access(alice, session), draft, reply=False)
    fresh = Session.objects.get(pk=session.pk)
    assert fresh.revert == {}
    assert list(session.messages.order_by("seq").values_list("pk", flat=True)) == [
        *_ids(turns[:1]),
        row.pk,
    ]
    # Nothing of what went is left, and what is left is whole.
    assert set(session.parts.values_list("message_id", flat=True)) == {*_ids(turns[:1]), row.pk}
    assert_log_equals_rows(session)


def test_admitting_alone_takes_nothing_away(
    session: Session, alice: User, turns: list[Story]
) -> None:
    revert_session(session_access(alice, session), turns[1].prompt_id)
    draft = PromptDraft(parts=[{"type": "text", "text": "later"}], model=INLINE)
    admit_prompt(session_access(alice, session), draft, resume=False)
    assert session.messages.count() == 6
    assert unrevert_session(session_access(alice, session)).revert == {}


def test_a_prompt_that_was_admitted_closes_the_way_back(
    session: Session, alice: User, turns: list[Story]
) -> None:
    access = session_access(alice, session)
    revert_session(access, turns[1].prompt_id)
    prompt(alice, session, "go on")
    with pytest.raises(SessionBusy):
        unrevert_session(access)
