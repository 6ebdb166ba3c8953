"""The browsers of this process that show a team's list of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice

from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.db import in_view_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.languages import in_language
from sessions.events.live import rail_group
from sessions.models import Session, State
from sessions.present.conversation.waiting import count_waiting
from sessions.present.frame.rail import build_rows
from sessions.present.sessions import Row
from sessions.stream.fragments import render_card, render_pull, render_row
from sessions.stream.frames import Ops
from sessions.stream.hub import Body, Overflow, watch
from sessions.stream.listener import Listener, encode
from sessions.stream.queue_position import PlacesInLine
from sessions.stream.rooms import LiveRoom, Rooms
from sessions.visibility import (
    has_own_view,
    open_sessions,
    oversees,
    sessions_in,
    with_roles,
)
from teams.access import TeamAccess

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


@dataclass(frozen=True)
class View:
    """Which of a team's sessions a room shows: all that `key` stands for.

    Those who oversee the team share one, and so do those who see what everybody does. `access` is
    that of the person in a room of their own.
    """

    team_id: str
    key: str
    access: TeamAccess | None = field(default=None, compare=False)

    @classmethod
    def of(cls, access: TeamAccess) -> View:
        """One query, none for who oversees the team."""
        if oversees(access.membership):
            return cls(access.team.pk, "all")
        if has_own_view(access):
            key = f"{access.user.pk} {access.membership.role}"
            return cls(access.team.pk, key, access.in_team)
        return cls(access.team.pk, "open")

    def sessions(self) -> QuerySet[Session]:
        if self.access is not None:
            return sessions_in(self.access)
        if self.key == "open":
            return open_sessions(self.team_id)
        return Session.objects.filter(project__team=self.team_id)


class RailRoom(LiveRoom):
    """Use `joined_rail`."""

    def __init__(self, view: View, language: str) -> None:
        super().__init__()
        self._view = view
        self._language = language
        self._touched: set[str] = set()
        self._arrived = asyncio.Event()
        self._line = PlacesInLine()
        # How many sessions wait for whom, as last sent.
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
                async with watch(rail_group(self._view.team_id)) as bodies:
                    self._line.follow(*await in_view_db(_busy, self._view))
                    self.be_ready()
                    async for body in bodies:
                        self._receive(body)
            except Overflow:
                self.send(STALE)
                self._arrived.set()
                await asyncio.sleep(COALESCE_S)

    def _receive(self, body: Body) -> None:
        if body["t"] == "inbox":
            # Each person is shown their own: they ask for the list again.
            self.send(_frame_of([{"ops": [], "stale": True}]))
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
            found = partial(_news_of, self._view, touched)
            news = await in_view_db(in_language, self._language, found)
            if news["rows"] or news["asks"] != self._asks:
                self._asks = news["asks"]
                self.send(news)
            sent = len(touched) * self.guests
            await asyncio.sleep(max(COALESCE_S, sent / ROWS_PER_S))


def _frame_of(rows: list[JsonValue]) -> JsonObject:
    return {"k": "u", "rows": rows}


# Have a page ask for its lists again.
STALE = _frame_of([{"ops": [], "stale": True}])


def _news_of(view: View, session_ids: set[str]) -> JsonObject:
    """The rows, and how many sessions wait for whom, for pages that list none."""
    waiting = count_waiting(view.sessions(), view.access)
    asks: JsonObject = {**waiting}
    return {**_frame_of(_rows_of(view, session_ids)), "asks": asks}


def _rows_of(view: View, session_ids: set[str]) -> list[JsonValue]:
    found = view.sessions().filter(pk__in=session_ids).select_related("project__team", "owner")
    if view.access is not None:
        found = with_roles(found, view.access)
    rows = build_rows(list(found), view.access, is_live=True)
    return [{"ops": _ops_of(row), "row": row.id, "group": row.group} for row in rows]


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


def _busy(view: View) -> set[str]:
    busy = view.sessions().filter(parent=None, state=State.BUSY)
    return set(busy.values_list("pk", flat=True))


def _recent(view: View, in_line: set[str]) -> JsonObject:
    recent = view.sessions().filter(updated_at__gt=timezone.now() - PAGE_AGE)
    recent_ids = recent.values_list("pk", flat=True)[:_MOST_RECENT]
    return _news_of(view, {*islice(in_line, _MOST_RECENT), *recent_ids})


_rooms: Rooms[RailRoom] = Rooms("rail")


@asynccontextmanager
async def joined_rail(view: View, listener: Listener, *, language: str = "") -> AsyncIterator[None]:
    """Have the changes of the sessions of a view put into `listener`, the newest ones first."""
    key = f"{view.team_id} {view.key} {language}".strip()
    async with _rooms.joined(key, lambda: RailRoom(view, language)) as room:
        room.add(listener)
        try:
            recent = await in_view_db(in_language, language, _recent, view, room.in_line)
            if recent["rows"] or recent["asks"]:
                listener.put(encode(recent))
            yield
        finally:
            room.discard(listener)
