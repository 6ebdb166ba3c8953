from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from unittest import mock

import pytest
from django.utils.translation import get_language

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.models import Session
from sessions.stream import room
from sessions.stream.frames import Growing, Ops
from sessions.stream.listener import Listener
from sessions.stream.rail import View, joined_rail
from sessions.stream.room import joined
from teams.models import User
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)


def wait_for_permission(session: Session, author: User) -> None:
    story = Story(session, author)
    story.ask("please run the tests")
    story.answer()
    story.waits("pytest -q")


async def heard(listener: Listener, text: str) -> str:
    while True:
        frame = await asyncio.wait_for(listener.get(), 25)
        if text in frame:
            return frame


async def test_each_reads_a_session_in_their_language_and_each_language_is_drawn_once(
    session: Session, alice: User
) -> None:
    team_id = await in_db(lambda: session.project.team_id)
    seq = await in_db(lambda: Session.objects.get(pk=session.pk).seq)
    people = {name: Listener() for name in ("en 1", "en 2", "de 1", "de 2")}
    drawn: list[tuple[str, object]] = []
    draw = room._touched_ops

    def note(session_id: str, records: list[JsonObject], growing: Growing, *, is_lost: bool) -> Ops:
        drawn.append((get_language(), records[-1]["seq"]))
        return draw(session_id, records, growing, is_lost=is_lost)

    async with AsyncExitStack() as stack:
        stack.enter_context(mock.patch.object(room, "_touched_ops", note))
        for name, listener in people.items():
            entered = joined(session.pk, team_id, listener, after=seq, language=name[:2])
            await stack.enter_async_context(entered)
        await in_db(wait_for_permission, session, alice)
        texts = ["Allow once", "Allow once", "Einmal erlauben", "Einmal erlauben"]
        frames = [
            await heard(listener, text)
            for listener, text in zip(people.values(), texts, strict=True)
        ]
    assert frames[0] == frames[1]
    assert frames[2] == frames[3]
    assert {language for language, _ in drawn} == {"en", "de"}
    assert len(drawn) == len(set(drawn))


async def test_the_list_of_sessions_comes_in_the_language_of_the_page(
    session: Session, alice: User
) -> None:
    team_id = await in_db(lambda: session.project.team_id)
    english, german = Listener(), Listener()
    async with (
        joined_rail(View(team_id, "all"), english, language="en"),
        joined_rail(View(team_id, "all"), german, language="de"),
    ):
        await in_db(wait_for_permission, session, alice)
        await heard(english, "Waiting for a member")
        await heard(german, "Wartet auf ein Mitglied")
