"""One client's stream of server-sent events: what the log has after its cursor, then live.

Every frame of a stored event carries the cursor after it as `id:`. A client that comes back with
`Last-Event-ID` gets what it missed from the log; one that is too slow is cut off and comes back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial

from opencode_web.lib.db import in_view_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.sse import frame
from sessions.events.live import team_group
from sessions.present.data import object_of
from sessions.stream.cursor import Cursor
from sessions.stream.hub import Overflow, Subscription, watch
from sessions.stream.log import live_team_ids, newest_cursor, read_page, session_diffs, session_info
from sessions.stream.once import Once
from sessions.stream.terminal_clients import TOLD
from sessions.stream.wire import (
    WireEvent,
    envelope,
    native,
    needs_diffs,
    needs_session,
    plain,
    stored_event_id,
    to_live_events,
    to_wire_events,
)
from teams.access import ACCESS_CHANGED, access_group, user_group
from teams.auth import Principal

logger = logging.getLogger(__name__)

# Source: OpenCode's event streams.
HEARTBEAT_S = 10.0
# Roles and tokens are looked at again this often, and at once when the bus tells of a change. It
# may lose that, and nobody tells when a token expires.
RIGHTS_S = 4.0
# That of the second version is no event.
_BEAT = b": heartbeat\n\n"
# Session and diffs as they are when an event comes. Whoever gets the body may see them: the groups
# that a stream watches are those of its principal's teams.
_infos: Once[JsonObject | None] = Once()
_diffs: Once[list[JsonObject]] = Once()


@dataclass(frozen=True)
class Scope:
    """Whose stream it is, and what is in it."""

    principal: Principal
    # Without a project: every team of the principal.
    project_id: str | None = None
    # Frames of /global/event are wrapped with their directory, and those of /api/event have it.
    is_global: bool = False
    is_native: bool = False


class EventStream:
    """The state of one connection. Iterate over `frames` once."""

    def __init__(self, scope: Scope, cursor: Cursor) -> None:
        self._scope = scope
        self._cursor = cursor

    async def frames(self, team_ids: frozenset[str]) -> AsyncIterator[bytes]:
        """Yield encoded frames until the client goes, falls behind, or loses its rights."""
        user = self._scope.principal.user
        loop = asyncio.get_running_loop()
        rights = (user_group(user.pk), *map(access_group, team_ids))
        async with watch(*map(team_group, team_ids), *rights) as subscription:
            yield self._own("server.connected")
            try:
                while True:
                    async for piece in self._from_log():
                        yield piece
                    heartbeat_at = loop.time() + HEARTBEAT_S
                    while loop.time() < heartbeat_at:
                        end = min(heartbeat_at, loop.time() + RIGHTS_S)
                        async for piece in self._live(subscription, end):
                            yield piece
                        if await in_view_db(live_team_ids, self._scope.principal) != team_ids:
                            return
                    yield _BEAT if self._scope.is_native else self._own("server.heartbeat")
            except Overflow:
                logger.info("sse.too_slow user=%s cursor=%s", user.pk, self._cursor)

    async def _live(self, subscription: Subscription, end: float) -> AsyncIterator[bytes]:
        """Until a moment of the loop's clock, or until somebody's rights have changed."""
        loop = asyncio.get_running_loop()
        # Compared each time: what waits already is handed over without ever running into a timeout.
        while loop.time() < end:
            try:
                async with asyncio.timeout_at(end):
                    bodies = await subscription.take()
            except TimeoutError:
                return
            # One write for all that waits: a stream that lags behind catches up by that.
            kinds = [body["t"] for body in bodies]
            before = kinds.index(ACCESS_CHANGED) if ACCESS_CHANGED in kinds else len(bodies)
            subscription.put_back(bodies[before + 1 :])
            pieces = [piece for body in bodies[:before] for piece in await self._pieces(body)]
            if pieces:
                yield b"".join(pieces)
            if before < len(bodies):
                return

    async def _pieces(self, body: JsonObject) -> list[bytes]:
        return [self._encode_told(body)] if body["t"] == TOLD else await self._render(body)

    async def _from_log(self) -> AsyncIterator[bytes]:
        """What the bus lost, or what came before this connection."""
        end = None
        while end is None:
            page = await in_view_db(
                read_page, self._cursor, self._scope.principal, self._scope.project_id
            )
            pieces = [piece for body in page.bodies for piece in await self._render(body)]
            if pieces:
                yield b"".join(pieces)
            end = page.end
        self._cursor = self._cursor.add(end)

    async def _render(self, body: JsonObject) -> list[bytes]:
        if self._scope.project_id not in (None, body["project"]):
            return []
        if body.get("user") not in (None, self._scope.principal.user.pk):
            return []
        if body["t"] != "events":
            return [
                self._encode(event, body, id=new_id("evt"))
                for event in to_live_events(body, now_ms=int(time.time() * 1000))
            ]
        fresh = list(self._fresh(body))
        info = None
        if any(needs_session(record) for record in fresh):
            info = await _infos.of(body, partial(in_view_db, session_info, str(body["session"])))
            if info is None:
                return []
        diffs = []
        if any(needs_diffs(record) for record in fresh):
            diffs = await _diffs.of(body, partial(in_view_db, session_diffs, str(body["session"])))
        return [piece for record in fresh for piece in self._stored(body, record, info, diffs)]

    def _fresh(self, body: JsonObject) -> Iterator[JsonObject]:
        records = body["events"]
        assert isinstance(records, list)
        for record in records:
            assert isinstance(record, dict)
            if not self._cursor.has(_pk(record)):
                yield record

    def _stored(
        self,
        body: JsonObject,
        record: JsonObject,
        info: JsonObject | None,
        diffs: list[JsonObject],
    ) -> Iterator[bytes]:
        self._cursor = self._cursor.add(_pk(record))
        events = to_wire_events(str(body["session"]), record, info, diffs)
        for place, event in enumerate(events):
            # Only the last frame carries the cursor: who is cut off between them gets all again.
            cursor = str(self._cursor) if place == len(events) - 1 else None
            yield self._encode(event, body, id=stored_event_id(record, place), cursor=cursor)

    def _encode(
        self, event: WireEvent, body: JsonObject, *, id: str, cursor: str | None = None
    ) -> bytes:
        if self._scope.is_native:
            return frame(native(event, id=id, directory=body["directory"]), id=cursor)
        if self._scope.is_global:
            data = envelope(event, id=id, directory=body["directory"], project=body["project"])
            return frame(data, id=cursor)
        return frame(plain(event, id=id), id=cursor)

    def _encode_told(self, body: JsonObject) -> bytes:
        return frame(self._wrapped((str(body["type"]), object_of(body, "properties"))))

    def _own(self, kind: str) -> bytes:
        return frame(self._wrapped((kind, {})), id=str(self._cursor))

    def _wrapped(self, event: WireEvent) -> JsonObject:
        if self._scope.is_native:
            return native(event, id=new_id("evt"))
        return (envelope if self._scope.is_global else plain)(event, id=new_id("evt"))


def _pk(record: JsonObject) -> int:
    pk = record["id"]
    assert isinstance(pk, int)
    return pk


async def open_stream(scope: Scope, *, last_event_id: str = "") -> AsyncIterator[bytes]:
    """Start a stream. Returns: encoded frames, `server.connected` first."""
    # The place in the log is taken before anything is subscribed to, so nothing falls in between.
    cursor = Cursor.parse(last_event_id)
    if cursor is None:
        cursor = await in_view_db(newest_cursor)
    team_ids = await in_view_db(live_team_ids, scope.principal)
    return EventStream(scope, cursor).frames(team_ids)
