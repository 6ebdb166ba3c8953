from __future__ import annotations

from collections.abc import Callable

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.history import delete_messages, delete_part
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.revert import revert_session, unrevert_session
from sessions.events.types import SessionUpdated
from sessions.models import Part, Session
from teams.models import User
from tests.sessions.factories import INLINE, session_access
from tests.sessions.story import Story, tell_whole_turn, write
from tests.sessions.stream.conftest import Open, watching
from tests.sessions.stream.dom import Page
from tests.sessions.stream.test_same_page import last_seq

pytestmark = pytest.mark.django_db(transaction=True)

Act = Callable[[Session, User, list[Story]], None]


def _choose_model(session: Session) -> None:
    # The composer of an open page keeps its own choice.
    model = {"providerID": INLINE.provider_id, "id": INLINE.model_id}
    write(session, SessionUpdated(agent="build", model=model))


def _tell(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two", "three")]


def _roll_back(session: Session, alice: User, turns: list[Story]) -> None:
    revert_session(session_access(alice, session), turns[1].prompt_id)


def _roll_back_all(session: Session, alice: User, turns: list[Story]) -> None:
    revert_session(session_access(alice, session), turns[0].prompt_id)


def _roll_back_half_an_answer(session: Session, alice: User, turns: list[Story]) -> None:
    part = Part.objects.filter(message=turns[2].message_id, type="tool").latest("seq")
    revert_session(session_access(alice, session), turns[2].message_id, part_id=part.pk)


def _restore(session: Session, alice: User, turns: list[Story]) -> None:
    _roll_back_all(session, alice, turns)
    unrevert_session(session_access(alice, session))


def _go_on(session: Session, alice: User, turns: list[Story]) -> None:
    _roll_back(session, alice, turns)
    draft = PromptDraft(parts=[{"type": "text", "text": "instead"}], model=INLINE)
    admit_prompt(session_access(alice, session), draft, reply=False)


def _delete_a_turn(session: Session, alice: User, turns: list[Story]) -> None:
    ids = [turns[1].prompt_id, turns[1].message_id]
    delete_messages(session_access(alice, session), ids)


def _delete_the_first_prompt(session: Session, alice: User, turns: list[Story]) -> None:
    delete_messages(session_access(alice, session), [turns[0].prompt_id])


def _delete_a_part(session: Session, alice: User, turns: list[Story]) -> None:
    part = Part.objects.filter(message=turns[0].message_id, type="text").earliest("seq")
    delete_part(session_access(alice, session), turns[0].message_id, part.pk)


@pytest.mark.parametrize(
    "act",
    [
        _roll_back,
        _roll_back_all,
        _roll_back_half_an_answer,
        _restore,
        _go_on,
        _delete_a_turn,
        _delete_the_first_prompt,
        _delete_a_part,
    ],
)
async def test_every_open_page_becomes_what_a_reload_shows(
    session: Session, alice: User, load_page: Open, act: Act
) -> None:
    await in_db(_choose_model, session)
    empty = await in_db(load_page)
    turns = await in_db(_tell, session, alice)
    pages: list[Page] = [empty, await in_db(load_page)]
    before = pages[1].shape()
    await in_db(act, session, alice, turns)
    fresh = await in_db(load_page)
    assert act is _restore or fresh.shape() != before
    for page in pages:
        async with watching(session, page) as watcher:
            await watcher.reach(await last_seq(session))
        assert page.shape() == fresh.shape()


async def test_what_is_rolled_back_leaves_the_page_and_a_line_brings_it_back(
    session: Session, alice: User, load_page: Open
) -> None:
    turns = await in_db(_tell, session, alice)
    page = await in_db(load_page)
    async with watching(session, page) as watcher:
        await in_db(_roll_back, session, alice, turns)
        await watcher.reach(await last_seq(session))
        assert page.root.find(f"turn-{turns[0].prompt_id}") is not None
        assert page.root.find(f"turn-{turns[1].prompt_id}") is None
        dock = page.root.find("reverted")
        assert dock is not None
        assert "2 messages rolled back" in dock.text
        assert page.said == ["The conversation has changed."]
        await in_db(unrevert_session, await in_db(session_access, alice, session))
        await watcher.reach(await last_seq(session))
    assert page.root.find(f"turn-{turns[2].prompt_id}") is not None
    assert dock is not page.root.find("reverted")
    assert "rolled back" not in page.root.text
