"""Who looks at a session just now. In memory only: each process says who is in its own rooms.

A person is there from the first word of their browser on, until it leaves or says nothing for a
while; a process that says nothing is forgotten in the same way.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_view_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.languages import in_language
from sessions.events.bodies import PresenceBody
from sessions.present.frame.people import Person
from sessions.stream.fragments import render_presence
from sessions.stream.hub import Body, Overflow, watch
from sessions.stream.listener import Listener, encode
from sessions.stream.rooms import LiveRoom, Rooms

# Browsers say every 15 s that somebody looks; whoever has died is gone within 40 s.
EXPIRY_S = 33.0
BEAT_S = 12.0
LOOK_S = 3.0
LINGER_S = 6.0
# Somebody writes for so long after a key.
WRITES_S = 6.0


@dataclass(eq=False)
class Guest:
    """One browser of a person."""

    user_id: int
    name: str
    # Its connection ends often, and comes again at once.
    lingers: bool = False
    seen_at: float = -math.inf
    typed_at: float = -math.inf


def presence_group(team_id: str) -> str:
    """The bus group that says who looks at the team's sessions."""
    return f"presence.{team_id}"


class PresenceRoom(LiveRoom):
    """Use `joined_presence`."""

    def __init__(self, session_id: str, team_id: str, language: str) -> None:
        super().__init__()
        self._session_id = session_id
        self._language = language
        self._group = presence_group(team_id)
        self._id = new_id("prs")
        self._guests: set[Guest] = set()
        # What each room said last, this one too, and when.
        self._said: dict[str, tuple[float, list[Person]]] = {}
        self._told: list[Person] = []
        self._shown: list[Person] = []
        self._beat_at = 0.0

    async def serve(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._tend())

    async def enter(self, listener: Listener) -> None:
        """Have a page show who is there, from now on."""
        self.add(listener)
        if self._shown:
            listener.put(encode(await self._drawn(self._shown)))

    def note(self, guest: Guest, *, typing: bool = False) -> None:
        """A browser says that somebody looks, or writes."""
        now = time.monotonic()
        guest.seen_at = now
        if typing:
            guest.typed_at = now
        self._guests.add(guest)
        self._tell()

    def leave(self, guest: Guest) -> None:
        """The browser's connection has ended."""
        if guest.lingers:
            guest.seen_at = min(guest.seen_at, time.monotonic() - EXPIRY_S + LINGER_S)
        else:
            self._guests.discard(guest)
        self._tell()

    def _tell(self, *, again: bool = False) -> None:
        """Say who is in this room, when that is news."""
        now = time.monotonic()
        self._guests = {one for one in self._guests if now - one.seen_at < EXPIRY_S}
        people = _people_of(self._guests, now)
        if people == self._told and not again:
            return
        self._told, self._beat_at = people, now
        self._publish(
            {
                "t": "present",
                "session": self._session_id,
                "room": self._id,
                "people": [
                    {"id": one.id, "name": one.name, "writes": one.writes} for one in people
                ],
            }
        )

    def _publish(self, body: PresenceBody) -> None:
        publish(self._group, body)

    async def _listen(self) -> None:
        while True:
            try:
                async with watch(self._group, session=self._session_id) as bodies:
                    self.be_ready()
                    self._publish({"t": "who", "session": self._session_id})
                    async for body in bodies:
                        await self._receive(body)
            except Overflow:
                await asyncio.sleep(LOOK_S)

    async def _receive(self, body: Body) -> None:
        match body["t"]:
            case "who":
                self._tell(again=True)
            case "present":
                people = [Person(**one) for one in body["people"]]
                self._said[body["room"]] = (time.monotonic(), people)
                await self._show()

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            now = time.monotonic()
            self._tell(again=bool(self._guests) and now - self._beat_at > BEAT_S)
            self._said = {
                room: said for room, said in self._said.items() if now - said[0] < EXPIRY_S
            }
            await self._show()

    async def _drawn(self, people: list[Person]) -> JsonObject:
        return await in_view_db(in_language, self._language, _frame, people)

    async def _show(self) -> None:
        people = _together(one for _, said in self._said.values() for one in said)
        if people != self._shown:
            self._shown = people
            self.send(await self._drawn(people))


def _people_of(guests: set[Guest], now: float) -> list[Person]:
    return _together(Person(one.user_id, one.name, now - one.typed_at < WRITES_S) for one in guests)


def _together(people: Iterable[Person]) -> list[Person]:
    """Returns: each person once, by name, whatever number of browsers they have."""
    by_id: dict[int, Person] = {}
    for one in people:
        known = by_id.get(one.id)
        by_id[one.id] = replace(one, writes=one.writes or bool(known and known.writes))
    return sorted(by_id.values(), key=lambda one: (one.name, one.id))


def _frame(people: list[Person]) -> JsonObject:
    return {"k": "p", "ops": [["#presence", "outer", render_presence(people)]]}


_rooms: Rooms[PresenceRoom] = Rooms("presence")


@asynccontextmanager
async def joined_presence(
    session_id: str, team_id: str, listener: Listener, guest: Guest, *, language: str = ""
) -> AsyncIterator[PresenceRoom]:
    """Have `listener` told who looks at a session. Say of the guest what is known with `note`."""
    key = f"{session_id} {language}".strip()
    async with _rooms.joined(key, lambda: PresenceRoom(session_id, team_id, language)) as room:
        try:
            await room.enter(listener)
            yield room
        finally:
            room.leave(guest)
            room.discard(listener)
