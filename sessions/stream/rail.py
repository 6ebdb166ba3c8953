"""The browsers of this process that show a team's list of sessions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from weakref import WeakKeyDictionary

from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.live import rail_group
from sessions.models import Session
from sessions.present.rail import rows_of
from sessions.stream.fragments import render_card, render_row
from sessions.stream.frames import Ops
from sessions.stream.hub import Overflow, watch
from sessions.stream.listener import Listener, encode

logger = logging.getLogger(__name__)

# A row is drawn again at most this often.
COALESCE_S = 0.25
# Where this would be exceeded rows are drawn less often: a hundred sessions that start at once with
# a hundred browsers that list them all would keep a core busy.
ROWS_PER_S = 10_000
# A page is that old at most when its socket opens; older ones ask for the list again.
PAGE_AGE = timedelta(seconds=15)


class RailRoom:
    """Use `joined_rail`; every method must run on the loop of the room."""

    def __init__(self, team_id: str) -> None:
        self.team_id = team_id
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.listeners: set[Listener] = set()
        self._touched: set[str] = set()
        self._arrived = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"rail {team_id}")

    def close(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._listen())
                group.create_task(self._work())
        except Exception:  # one stream connection: its browsers connect again
            logger.exception("rail.failed team=%s", self.team_id)
        finally:
            if not self.ready.done():
                self.ready.set_result(None)
            for listener in self.listeners:
                listener.end()
            _forget(self)

    async def _listen(self) -> None:
        while True:
            try:
                async with watch(rail_group(self.team_id)) as bodies:
                    if not self.ready.done():
                        self.ready.set_result(None)
                    async for body in bodies:
                        self._receive(body)
            except Overflow:
                self._send([{"ops": [], "stale": True}])
                await asyncio.sleep(COALESCE_S)

    def _receive(self, body: JsonObject) -> None:
        session_id = str(body.get("session", ""))
        if body.get("t") != "session" or not session_id:
            return
        if body.get("deleted"):
            ops: Ops = [[f"#{kind}-{session_id}", "remove", ""] for kind in ("row", "card")]
            self._send([{"ops": ops}])
            return
        self._touched.add(session_id)
        self._arrived.set()

    async def _work(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            touched, self._touched = self._touched, set()
            self._send(await in_db(_rows_of, touched))
            sent = len(touched) * len(self.listeners)
            await asyncio.sleep(max(COALESCE_S, sent / ROWS_PER_S))

    def _send(self, rows: list[JsonValue]) -> None:
        if rows and self.listeners:
            text = _frame_of(rows)
            for listener in self.listeners:
                listener.put(text)


def _frame_of(rows: list[JsonValue]) -> str:
    return encode({"k": "u", "rows": rows})


def _rows_of(session_ids: set[str]) -> list[JsonValue]:
    sessions = Session.objects.filter(pk__in=session_ids)
    return [
        {
            "ops": [
                [f"#row-{row.id}", "outer", render_row(row)],
                [f"#card-{row.id}", "outer", render_card(row)],
            ],
            "row": row.id,
            "group": row.group,
        }
        for row in rows_of(sessions)
    ]


def _recent_rows(team_id: str) -> list[JsonValue]:
    recent = Session.objects.filter(
        project__team_id=team_id, updated_at__gt=timezone.now() - PAGE_AGE
    )
    return _rows_of(set(recent.values_list("pk", flat=True)[:20]))


_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RailRoom]] = WeakKeyDictionary()


def _forget(room: RailRoom) -> None:
    rooms = _rooms.get(asyncio.get_running_loop(), {})
    if rooms.get(room.team_id) is room:
        del rooms[room.team_id]


@asynccontextmanager
async def joined_rail(team_id: str, listener: Listener) -> AsyncIterator[None]:
    """Have the changes of a team's sessions put into `listener`, the newest ones first."""
    rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
    room = rooms.get(team_id)
    if room is None:
        room = rooms[team_id] = RailRoom(team_id)
    room.listeners.add(listener)
    try:
        await asyncio.shield(room.ready)
        rows = await in_db(_recent_rows, team_id)
        if rows:
            listener.put(_frame_of(rows))
        yield
    finally:
        room.listeners.discard(listener)
        if not room.listeners:
            _forget(room)
            room.close()
