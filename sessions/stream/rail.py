"""The browsers of this process that show a team's list of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import islice

from django.utils import timezone

from opencode_web.lib.db import in_view_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.languages import in_language
from sessions.events.live import rail_group
from sessions.models import Session, State
from sessions.present.conversation.waiting import count_waiting
from sessions.present.frame.rail import rows_of
from sessions.present.sessions import Row
from sessions.stream.fragments import render_card, render_pull, render_row
from sessions.stream.frames import Ops
from sessions.stream.hub import Body, Overflow, watch
from sessions.stream.listener import Listener, encode
from sessions.stream.queue_position import PlacesInLine
from sessions.stream.rooms import LiveRoom, Rooms

# A row is drawn again at most this often.
COALESCE_S = 0.25
# Where this would be exceeded rows are drawn less often: a hundred sessions that start at once with
# a hundred browsers that list them all would keep a core busy.
ROWS_PER_S = 10_000
# Where the line for workers is long, its rows are drawn less often: each step moves them all.
MOVED_PER_S = 20
# A page is that old at most when its socket opens; older ones ask for the list again.
PAGE_AGE = timedelta(seconds=15)
_MOST_RECENT = 20


class RailRoom(LiveRoom):
    """Use `joined_rail`."""

    def __init__(self, team_id: str, language: str) -> None:
        super().__init__()
        self._team_id = team_id
        self._language = language
        self._touched: set[str] = set()
        self._arrived = asyncio.Event()
        self._line = PlacesInLine()
        # How many sessions wait for each role, as last sent.
        self._asks: JsonValue = {}

    @property
    def in_line(self) -> set[str]:
        """Those with a place in line, which may be another one on a page that comes in now."""
        return self._line.shown

    async def serve(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._work())
            group.create_task(self._follow_line())

    async def _listen(self) -> None:
        while True:
            try:
                async with watch(rail_group(self._team_id)) as bodies:
                    self._line.follow(*await in_view_db(_busy, self._team_id))
                    self.be_ready()
                    async for body in bodies:
                        self._receive(body)
            except Overflow:
                self.send(_frame_of([{"ops": [], "stale": True}]))
                self._arrived.set()
                await asyncio.sleep(COALESCE_S)

    def _receive(self, body: Body) -> None:
        if body["t"] != "session":
            return
        session_id = body["session"]
        if "deleted" in body:
            kinds = ("row", "card", "inbox")
            ops: Ops = [[f"#{kind}-{session_id}", "remove", ""] for kind in kinds]
            self.send(_frame_of([{"ops": ops}]))
            self._arrived.set()
            return
        self._touched.add(session_id)
        self._arrived.set()
        self._line.follow(session_id)

    async def _follow_line(self) -> None:
        while True:
            moved = await self._line.moved()
            self._touched |= moved
            self._arrived.set()
            await asyncio.sleep(len(moved) / MOVED_PER_S)

    async def _work(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            touched, self._touched = self._touched, set()
            found = partial(_news_of, self._team_id, touched)
            news = await in_view_db(in_language, self._language, found)
            if news["rows"] or news["asks"] != self._asks:
                self._asks = news["asks"]
                self.send(news)
            sent = len(touched) * self.guests
            await asyncio.sleep(max(COALESCE_S, sent / ROWS_PER_S))


def _frame_of(rows: list[JsonValue]) -> JsonObject:
    return {"k": "u", "rows": rows}


def _news_of(team_id: str, session_ids: set[str]) -> JsonObject:
    """The rows, and how many sessions wait for each role, for pages that list none."""
    asks: JsonObject = {role.value: count for role, count in count_waiting(team_id).items()}
    return {**_frame_of(_rows_of(session_ids)), "asks": asks}


def _rows_of(session_ids: set[str]) -> list[JsonValue]:
    sessions = Session.objects.filter(pk__in=session_ids)
    return [{"ops": _ops_of(row), "row": row.id, "group": row.group} for row in rows_of(sessions)]


def _ops_of(row: Row) -> Ops:
    ops: Ops = [
        [f"#row-{row.id}", "outer", render_row(row)],
        [f"#card-{row.id}", "outer", render_card(row)],
    ]
    if row.pull is not None:
        # On the page of the session, whose events say nothing of it.
        header = f"header-pull-{row.id}"
        ops.append([f"#{header}", "outer", render_pull(header, row.pull)])
    return ops


def _busy(team_id: str) -> set[str]:
    busy = Session.objects.filter(project__team=team_id, parent=None, state=State.BUSY)
    return set(busy.values_list("pk", flat=True))


def _recent(team_id: str, in_line: set[str]) -> JsonObject:
    recent = Session.objects.filter(
        project__team_id=team_id, updated_at__gt=timezone.now() - PAGE_AGE
    )
    recent_ids = recent.values_list("pk", flat=True)[:_MOST_RECENT]
    return _news_of(team_id, {*islice(in_line, _MOST_RECENT), *recent_ids})


_rooms: Rooms[RailRoom] = Rooms("rail")


@asynccontextmanager
async def joined_rail(
    team_id: str, listener: Listener, *, language: str = ""
) -> AsyncIterator[None]:
    """Have the changes of a team's sessions put into `listener`, the newest ones first."""
    key = f"{team_id} {language}".strip()
    async with _rooms.joined(key, lambda: RailRoom(team_id, language)) as room:
        room.add(listener)
        try:
            recent = await in_view_db(in_language, language, _recent, team_id, room.in_line)
            if recent["rows"] or recent["asks"]:
                listener.put(encode(recent))
            yield
        finally:
            room.discard(listener)
