from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.models import Project, Session
from sessions.stream import queue_position
from sessions.stream.listener import Listener
from sessions.stream.rail import View, joined_rail
from teams.models import User
from tests.sessions.factories import make_session, prompt
from tests.sessions.runner.drains import take_up_and_begin
from tests.sessions.stream.conftest import Open, watching
from tests.sessions.stream.dom import Page

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_position, "LOOK_S", 0.05)


def wait(user: User, session: Session, *, since_s: float) -> Session:
    prompt(user, session, "Mend it")
    since = timezone.now() - timedelta(seconds=since_s)
    Session.objects.filter(pk=session.pk).update(state_since=since, updated_at=since)
    return session


def status_of(page: Page) -> str:
    return next(node for node in page.root if "status" in node.attributes.get("class", "")).text


async def test_the_head_of_an_open_page_moves_up_with_the_line(
    session: Session, project: Project, alice: User, load_page: Open
) -> None:
    others = [await in_db(make_session, alice, project) for _ in range(2)]
    for number, other in enumerate(others):
        await in_db(wait, alice, other, since_s=60 - number)
    await in_db(wait, alice, session, since_s=30)
    page = await in_db(load_page)
    assert "Queued, 3rd in line" in status_of(page)
    async with watching(session, page) as watcher:
        await in_db(take_up_and_begin, others[0].pk)
        await watcher.until(lambda page: "Queued, 2nd in line" in status_of(page))
        await in_db(take_up_and_begin, others[1].pk)
        await watcher.until(lambda page: "Queued, next in line" in status_of(page))
        assert all("q" not in frame for frame in watcher.frames)
        assert page.shape() == (await in_db(load_page)).shape()
        await in_db(take_up_and_begin, session.pk)
        await watcher.until(lambda page: "Running" in status_of(page))


async def test_rows_move_up_with_the_line_and_rest_when_it_does(
    project: Project, alice: User
) -> None:
    first, second, third = [await in_db(make_session, alice, project) for _ in range(3)]
    for number, session in enumerate((first, second, third)):
        await in_db(wait, alice, session, since_s=60 - number)
    listener = Listener()
    async with joined_rail(View(project.team_id, "all"), listener):
        await shows(listener, {first.pk: "next", second.pk: "2nd", third.pk: "3rd"})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listener.get(), 0.5)
        # Nobody is told of the move by the one who moves.
        await in_db(Session.objects.filter(pk=first.pk).update, state="idle")
        await shows(listener, {second.pk: "next", third.pk: "2nd"})


async def shows(listener: Listener, expected: dict[str, str]) -> None:
    """Wait for these rows. A busy machine gets them in several messages, and some twice."""
    places: dict[str, str] = {}
    async with asyncio.timeout(25):
        while places != expected:
            for row in json.loads(await listener.get())["rows"]:
                html = row["ops"][0][2]
                places[row["row"]] = html.partition("Queued, ")[2].split(" ")[0]


async def test_who_waits_for_no_worker_is_looked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = []

    def read() -> dict[str, int]:
        readings.append(1)
        return {}

    monkeypatch.setattr(queue_position, "read_line", read)
    rooms = [queue_position.PlacesInLine() for _ in range(3)]
    for room in rooms:
        room.follow("ses_1")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.6):
            await asyncio.gather(*(room.moved() for room in rooms))
    assert len(readings) == 1
