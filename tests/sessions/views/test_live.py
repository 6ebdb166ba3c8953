from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.test import AsyncClient

from opencode_web.lib.build import build_id
from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.views import live
from teams.access import access_team
from teams.actions.members import remove_member
from teams.models import Membership, User
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)
Frame = dict[str, Any]


class Reader:
    """The events of one answer."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self.ids: list[str] = []

    async def until(self, is_last: Callable[[Frame], bool]) -> list[Frame]:
        frames: list[Frame] = []
        while not frames or not is_last(frames[-1]):
            event = (await asyncio.wait_for(anext(self._stream), 20)).decode()
            *head, data, end, _ = event.split("\n")
            assert end == ""
            self.ids += [line.removeprefix("id: ") for line in head]
            frames.append(json.loads(data.removeprefix("data: ")))
        return frames

    async def kind(self, kind: str) -> list[Frame]:
        return await self.until(lambda frame: frame["k"] == kind)


@asynccontextmanager
async def reading(user: User, path: str, **headers: str) -> AsyncIterator[Reader]:
    client = AsyncClient()
    await client.aforce_login(user)
    response = await client.get(path, headers=headers)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/event-stream"
    assert response["X-Accel-Buffering"] == "no"
    try:
        yield Reader(response.streaming_content)
    finally:
        await response.streaming_content.aclose()


async def test_the_frames_of_the_socket_come_over_plain_http_after_a_cursor(
    session: Session, alice: User, bob: User
) -> None:
    await in_db(session.refresh_from_db)
    after, story = session.seq, Story(session, alice)
    await in_db(story.ask, "before")
    async with reading(bob, f"/t/acme/s/{session.pk}/live?after={after}") as events:
        missed = await events.kind("hi")
        assert missed[-1].items() >= {"build": build_id(), "role": "member"}.items()
        await in_db(session.refresh_from_db)
        assert [(f["p"], f["q"]) for f in missed if "q" in f] == [(after, session.seq)]
        assert events.ids == [str(session.seq)]
        await in_db(story.ask, "meanwhile")
        live_frames = await events.until(lambda frame: "q" in frame)
        assert live_frames[-1]["p"] == session.seq


async def test_an_event_source_goes_on_after_the_id_that_it_has(
    session: Session, alice: User
) -> None:
    await in_db(Story(session, alice).ask, "before")
    await in_db(session.refresh_from_db)
    path = f"/t/acme/s/{session.pk}/live?after=0"
    async with reading(alice, path, **{"Last-Event-ID": str(session.seq)}) as events:
        assert not [frame for frame in await events.kind("hi") if "q" in frame]


async def test_the_list_of_a_team_comes_without_a_session(session: Session, alice: User) -> None:
    async with reading(alice, "/t/acme/live") as events:
        await events.kind("hi")
        await in_db(Story(session, alice).ask, "hello")
        frames = await events.until(lambda frame: frame["k"] == "u")
        assert frames[-1]["rows"][0]["row"] == session.pk


async def test_each_answer_ends_and_says_that_the_next_one_may_be_asked_for(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LIFETIME_S", 0.1)
    async with reading(alice, f"/t/acme/s/{session.pk}/live") as events:
        assert (await events.kind("bye"))[-1] == {"k": "bye", "code": 4000}
    monkeypatch.setattr(live, "LIFETIME_S", 60)
    monkeypatch.setattr(live, "MAX_BYTES", 1)
    async with reading(alice, f"/t/acme/s/{session.pk}/live") as events:
        assert (await events.kind("bye"))[-1]["code"] == 4000


async def test_who_is_removed_hears_no_more(session: Session, alice: User, bob: User) -> None:
    async with reading(bob, f"/t/acme/s/{session.pk}/live") as events:
        await events.kind("hi")
        await in_db(_remove_bob, alice, bob)
        assert (await events.kind("bye"))[-1] == {"k": "bye", "code": 4403}


def _remove_bob(alice: User, bob: User) -> None:
    membership = Membership.objects.get(user=bob, team__slug="acme")
    remove_member(membership, access=access_team(alice, "acme"))


async def test_who_was_made_billing_between_two_answers_is_told_why(
    session: Session, alice: User, bob: User, bill: User
) -> None:
    # Who sees no work is told the same of a session that never was.
    for user, path, code in (
        (bill, f"s/{session.pk}/live", "4403"),
        (bill, "s/ses_none/live", "4403"),
        (bill, "live", "4403"),
        (bob, "s/ses_none/live", "4404"),
    ):
        client = AsyncClient()
        await client.aforce_login(user)
        response = await client.get(f"/t/acme/{path}")
        assert (response.status_code, response.content.decode()) == (404, code)


async def test_the_session_has_to_be_one_of_the_team_in_the_address(
    session: Session, charlie: User
) -> None:
    client = AsyncClient()
    await client.aforce_login(charlie)
    for team in ("acme", "globex"):
        response = await client.get(f"/t/{team}/s/{session.pk}/live")
        assert response.status_code == 404
