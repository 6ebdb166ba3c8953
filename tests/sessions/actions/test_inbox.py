from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from sessions.actions.inbox import (
    cancel_input,
    change_input,
    move_input,
    put_input,
    reorder_inputs,
)
from sessions.actions.prompts import MAX_TEXT_CHARS, PromptDraft, admit_prompt
from sessions.inbox import own_text, pending_inputs, sending_order
from sessions.models import Event, Session, SessionInput
from teams.models import User
from tests.sessions.factories import INLINE, make_session, prompt, session_access

pytestmark = pytest.mark.django_db


def queue(user: User, session: Session, *texts: str, **fields: Any) -> list[str]:
    fields = {"delivery": "queue", **fields}
    return [prompt(user, session, text, **fields).pk for text in texts]


def waiting(session: Session) -> list[str]:
    return [own_text(row) for row in sending_order(pending_inputs(session.pk))]


def test_a_text_is_changed_by_who_saw_what_it_was(alice: User, session: Session) -> None:
    (id_,) = queue(alice, session, "one")
    access = session_access(alice, session)
    row = change_input(access, id_, revision=0, text="two")
    assert (own_text(row), row.revision, row.edited_by) == ("two", 1, None)
    with pytest.raises(Conflict, match="Someone else has changed") as refused:
        change_input(access, id_, revision=0, text="three")
    assert refused.value.data == {"revision": 1}
    assert waiting(session) == ["two"]


def test_a_change_that_changes_nothing_writes_nothing(alice: User, session: Session) -> None:
    (id_,) = queue(alice, session, "one")
    events = Event.objects.count()
    row = change_input(
        session_access(alice, session), id_, revision=0, text="one", delivery="queue"
    )
    assert (row.revision, Event.objects.count()) == (0, events)


def test_the_files_of_a_prompt_stay_when_its_text_is_changed(alice: User, session: Session) -> None:
    image = {
        "type": "file",
        "mime": "image/png",
        "url": "data:image/png;base64,iVBORw0KGgo=",
        "source": {"type": "file", "path": "a.png", "text": {"value": "a", "start": 0, "end": 1}},
    }
    draft = PromptDraft(parts=[{"type": "text", "text": "see"}, image], model=INLINE)
    row = admit_prompt(session_access(alice, session), draft)
    access = session_access(alice, session)
    row = change_input(access, row.pk, revision=0, text="look")
    first, *others = row.data["parts"]
    assert first["text"] == "look"
    assert [part["url"] for part in others] == [image["url"]]
    # Its place in the old text means nothing in the new one.
    assert "source" not in others[0]
    row = change_input(access, row.pk, revision=1, text=" ")
    assert [part["type"] for part in row.data["parts"]] == ["file"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(" \n", "empty", id="empty"),
        pytest.param("x" * (MAX_TEXT_CHARS + 1), "at most", id="too long"),
    ],
)
def test_a_text_that_no_prompt_could_have_is_refused(
    text: str, problem: str, alice: User, session: Session
) -> None:
    (id_,) = queue(alice, session, "one")
    with pytest.raises(Invalid, match=problem):
        change_input(session_access(alice, session), id_, revision=0, text=text)


def test_another_delivery_changes_when_it_is_sent(alice: User, session: Session) -> None:
    one, two = queue(alice, session, "one", "two")
    change_input(session_access(alice, session), two, revision=0, delivery="steer")
    assert waiting(session) == ["two", "one"]
    change_input(session_access(alice, session), two, revision=1, delivery="queue")
    assert waiting(session) == ["one", "two"]
    assert SessionInput.objects.get(pk=one).revision == 0


def test_what_was_taken_or_removed_is_not_changed(alice: User, session: Session) -> None:
    taken, gone = queue(alice, session, "taken", "gone")
    SessionInput.objects.filter(pk=taken).update(status="promoted")
    access = session_access(alice, session)
    cancel_input(access, gone)
    for id_, said in ((taken, "already taken"), (gone, "was removed")):
        with pytest.raises(Conflict, match=said):
            change_input(access, id_, revision=0, text="late")
        with pytest.raises(Conflict, match=said):
            cancel_input(access, id_)
        with pytest.raises(Conflict, match=said):
            move_input(access, id_, up=True)


def test_a_prompt_of_another_session_is_not_found(
    alice: User, session: Session, project: Any
) -> None:
    (id_,) = queue(alice, make_session(alice, project), "elsewhere")
    with pytest.raises(NotFound):
        change_input(session_access(alice, session), id_, revision=0, text="x")


Act = Callable[[Any, str], object]
ACTS: list[Act] = [
    lambda access, id_: change_input(access, id_, revision=0, text="changed"),
    lambda access, id_: change_input(access, id_, revision=0, delivery="steer"),
    cancel_input,
]


@pytest.mark.parametrize("act", ACTS)
def test_its_author_the_owner_and_admins_may_change_a_prompt(
    act: Act, alice: User, adam: User, bob: User, session: Session
) -> None:
    for person in (alice, adam, bob):
        (id_,) = queue(bob, session, "bobs")
        act(session_access(person, session), id_)


@pytest.mark.parametrize("act", ACTS)
def test_another_member_may_not_change_a_prompt_but_may_order_it(
    act: Act, alice: User, bob: User, session: Session
) -> None:
    first, second = queue(alice, session, "first", "second")
    with pytest.raises(Forbidden, match="Only Alice"):
        act(session_access(bob, session), first)
    move_input(session_access(bob, session), first, up=False)
    assert waiting(session) == ["second", "first"]
    assert SessionInput.objects.get(pk=second).revision == 0


def test_an_order_names_exactly_what_waits(alice: User, session: Session) -> None:
    one, two = queue(alice, session, "one", "two")
    access = session_access(alice, session)
    for ids in ([two], [two, one, "msg_x"], [one, one, two]):
        with pytest.raises(Conflict, match="The queue has changed"):
            reorder_inputs(access, ids)
    assert [row.pk for row in reorder_inputs(access, [two, one])] == [two, one]
    queue(alice, session, "three")
    assert waiting(session) == ["two", "one", "three"]


def test_a_prompt_moves_among_those_of_its_kind(alice: User, session: Session) -> None:
    steers = queue(alice, session, "s1", "s2", delivery="steer")
    queued = queue(alice, session, "q1", "q2")
    access = session_access(alice, session)
    move_input(access, steers[1], up=True)
    move_input(access, queued[0], up=False)
    assert waiting(session) == ["s2", "s1", "q2", "q1"]
    events = Event.objects.count()
    move_input(access, queued[1], up=True)
    move_input(access, queued[0], up=False)
    assert waiting(session) == ["s2", "s1", "q2", "q1"]
    assert Event.objects.count() == events


def test_a_prompt_is_put_before_another(alice: User, session: Session) -> None:
    queued = queue(alice, session, "q1", "q2", "q3")
    access = session_access(alice, session)
    put_input(access, queued[2], before=queued[0])
    assert waiting(session) == ["q3", "q1", "q2"]
    put_input(access, queued[2], before="")
    assert waiting(session) == ["q1", "q2", "q3"]
    events = Event.objects.count()
    put_input(access, queued[0], before=queued[0])
    put_input(access, queued[0], before=queued[1])
    assert Event.objects.count() == events
    cancel_input(access, queued[1])
    with pytest.raises(Conflict, match="was removed"):
        put_input(access, queued[0], before=queued[1])
    with pytest.raises(NotFound):
        put_input(access, queued[0], before="msg_elsewhere")


@pytest.mark.django_db(transaction=True)
def test_two_changes_of_one_prompt_do_not_overwrite_each_other(
    alice: User, adam: User, session: Session
) -> None:
    (id_,) = queue(alice, session, "one")
    barrier, outcomes = threading.Barrier(2), []

    def change(user: User) -> None:
        try:
            access = session_access(user, session)
            barrier.wait(25)
            change_input(access, id_, revision=0, text=f"of {user.email}")
            outcomes.append(user.email)
        except Conflict:
            outcomes.append("conflict")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=change, args=[user]) for user in (alice, adam)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(25)
    assert outcomes.count("conflict") == 1
    (winner,) = [name for name in outcomes if name != "conflict"]
    assert waiting(session) == [f"of {winner}"]
