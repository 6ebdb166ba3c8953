from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.present.frame.people import Person, build_onlookers
from sessions.stream import presence
from sessions.stream.listener import Listener
from sessions.stream.presence import Guest, PresenceRoom, joined_presence

pytestmark = pytest.mark.django_db(transaction=True)


class Onlooker:
    """One browser, and who it shows."""

    def __init__(self, user_id: int, name: str, *, lingers: bool = False) -> None:
        self.guest = Guest(user_id, name, lingers=lingers)
        self.listener = Listener()
        self.shows: list[str] = []
        self.room: PresenceRoom | None = None

    def look(self, *, typing: bool = False) -> None:
        assert self.room is not None
        self.room.note(self.guest, typing=typing)

    async def until(self, is_shown: Callable[[list[str]], bool]) -> None:
        while not is_shown(self.shows):
            frame = json.loads(await asyncio.wait_for(self.listener.get(), 20))
            [[selector, how, html]] = frame["ops"]
            assert (frame["k"], selector, how) == ("p", "#presence", "outer")
            self.shows = re.findall(r'<li class="avatar" title="([^"]*)"', html)


@asynccontextmanager
async def there(
    session: Session, user_id: int, name: str, *, lingers: bool = False
) -> AsyncIterator[Onlooker]:
    one = Onlooker(user_id, name, lingers=lingers)
    team_id = await in_db(lambda: session.project.team_id)
    async with joined_presence(session.pk, team_id, one.listener, one.guest) as room:
        one.room = room
        yield one


async def test_those_who_look_are_shown_to_each_other_until_they_leave(session: Session) -> None:
    async with there(session, 1, "Ada") as ada:
        ada.look()
        async with there(session, 2, "Bob") as bob:
            bob.look()
            await ada.until(lambda shown: shown == ["Ada", "Bob"])
            await bob.until(lambda shown: shown == ["Ada", "Bob"])
            bob.look(typing=True)
            await ada.until(lambda shown: shown == ["Ada", "Bob is writing"])
        await ada.until(lambda shown: shown == [])


async def test_whoever_comes_later_is_told_at_once(session: Session) -> None:
    async with there(session, 1, "Ada") as ada, there(session, 2, "Bob") as bob:
        ada.look()
        bob.look()
        await bob.until(lambda shown: shown == ["Ada", "Bob"])
        async with there(session, 3, "Vera") as vera:
            await vera.until(lambda shown: shown == ["Ada", "Bob"])


async def test_a_browser_that_has_died_is_forgotten(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with there(session, 1, "Ada") as ada, there(session, 2, "Bob") as bob:
        ada.look()
        bob.look()
        await ada.until(lambda shown: shown == ["Ada", "Bob"])
        monkeypatch.setattr(presence, "LOOK_S", 0.05)
        # Bob's browser has said nothing for so long.
        bob.guest.seen_at -= presence.EXPIRY_S
        ada.look()
        await ada.until(lambda shown: shown == [])
    assert presence.EXPIRY_S + presence.LOOK_S <= 40


async def test_a_connection_that_ends_often_leaves_its_person_there_for_a_moment(
    session: Session,
) -> None:
    async with there(session, 1, "Ada") as ada:
        ada.look()
        async with there(session, 2, "Bob", lingers=True) as bob:
            bob.look()
            await ada.until(lambda shown: shown == ["Ada", "Bob"])
        async with there(session, 2, "Bob", lingers=True) as again:
            again.look()
            await again.until(lambda shown: shown == ["Ada", "Bob"])


def test_four_faces_are_shown_and_the_rest_is_counted() -> None:
    people = [Person(number, f"P{number}", writes=False) for number in range(6)]
    shown = build_onlookers(people)
    assert ([one.id for one in shown.faces], [one.id for one in shown.more]) == (
        [0, 1, 2, 3],
        [4, 5],
    )
    assert build_onlookers(people[:1]).faces == []
