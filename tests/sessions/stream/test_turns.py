from __future__ import annotations

import asyncio

import pytest

from opencode_web.lib.db import in_db
from sessions.events.live import rail_group
from sessions.models import Session
from sessions.stream import turns
from sessions.stream.rights import watch_rights
from sessions.stream.turns import wait_until
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("below", [False, True], ids=["its own", "a sub-agent's"])
async def test_a_wait_for_a_request_hears_of_it(
    below: bool, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody looks again without a reason.
    monkeypatch.setattr(turns, "POLL_S", 600)
    team_id = await in_db(lambda: session.project.team_id)
    asks = session
    if below:
        asks = await in_db(make_session, alice, session.project, parent=session)
    looked = asyncio.Event()
    pending = asks.questions.pending()

    def look() -> str | None:
        loop.call_soon_threadsafe(looked.set)
        return pending.values_list("pk", flat=True).first()

    async def wait() -> str:
        async with watch_rights(authenticate_user(alice), rail_group(team_id)) as rows:
            return await wait_until(authenticate_user(alice), look, rows, row_of=session.pk)

    def ask() -> str:
        story = Story(asks, alice)
        story.ask("hi")
        story.answer()
        return story.questions("Which colour?", "Red", "Blue")

    loop = asyncio.get_running_loop()
    waiting = asyncio.create_task(wait())
    await asyncio.wait_for(looked.wait(), 10)
    asked = await in_db(ask)
    assert await asyncio.wait_for(waiting, 10) == asked
