"""One client's stream of server-sent events: what the log has after its cursor, then live.

Every frame of a stored event carries the cursor after it as `id:`. A client that comes back with
`Last-Event-ID` gets what it missed from the log; one that is too slow is cut off and comes back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from opencode_web.lib.db import in_view_db
from opencode_web.lib.errors import Unauthorized
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.sse import frame
from sessions.events.bodies import EventsBody, LiveBody, Record, TeamBody
from sessions.events.live import team_group
from sessions.stream.cursor import Cursor
from sessions.stream.deduplicate import Once
from sessions.stream.hub import Body, Overflow, Subscription
from sessions.stream.log import (
    is_seen,
    live_team_ids,
    newest_cursor,
    overseen_of,
    project_directory,
    read_page,
    session_diffs,
    session_info,
)
from sessions.stream.native import native_frames
from sessions.stream.references import References, needs_references, read_references
from sessions.stream.rights import watch_rights
from sessions.wire_events import (
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
from teams.access import ACCESS_CHANGED, access_group, settings_group
from teams.audit import SettingsChanged
from teams.auth import Principal

logger = logging.getLogger(__name__)

# Source: OpenCode's event streams.
HEARTBEAT_S = 10.0
# That of the second version is no event.
_BEAT = b": heartbeat\n\n"
_GROUPS = (team_group, access_group, settings_group)
# Session, diffs and what is referred to, as they are when an event comes, for all who see it.
_infos: Once[JsonObject | None] = Once()
_diffs: Once[list[JsonObject]] = Once()
_references: Once[References] = Once()


@dataclass(frozen=True)
class Home:
    """Where a client is attached: its project, and the folder there that it works in."""

    team_id: str
    project_id: str
    directory: str


@dataclass(frozen=True)
class Scope:
    """Whose stream it is, and what is in it."""

    principal: Principal
    # Without a project: every team of the principal.
    project_id: str | None = None
    # Frames of /global/event are wrapped with their directory, and those of /api/event have it.
    is_global: bool = False
    is_native: bool = False
    home: Home | None = None


@dataclass(frozen=True)
class _Around:
    """What stored events are rendered with, each of it read only where one of them wants it."""

    info: JsonObject | None
    diffs: list[JsonObject]
    references: References


class EventStream:
    """The state of one connection. Iterate over `frames` once."""

    def __init__(self, scope: Scope, cursor: Cursor) -> None:
        self._scope = scope
        self._cursor = cursor
        self._rights_changed = False
        self._overseen: frozenset[str] | None = None
        # What the principal sees of the other teams, by the session or project; asked once for each
        # until rights change.
        self._seen: dict[str, bool] = {}

    async def frames(self, team_ids: frozenset[str]) -> AsyncIterator[bytes]:
        """Yield encoded frames until the client goes, falls behind, or loses its rights."""
        principal = self._scope.principal
        loop = asyncio.get_running_loop()
        groups = [of(team_id) for team_id in team_ids for of in _GROUPS]
        async with watch_rights(principal, *groups) as subscription:
            yield self._own("server.connected")
            try:
                while True:
                    async for piece in self._from_log():
                        yield piece
                    heartbeat_at = loop.time() + HEARTBEAT_S
                    while loop.time() < heartbeat_at:
                        async for piece in self._live(subscription, heartbeat_at):
                            yield piece
                        if not self._rights_changed:
                            continue
                        self._rights_changed = False
                        self._overseen = None
                        self._seen.clear()
                        if await in_view_db(live_team_ids, principal) != team_ids:
                            return
                    yield _BEAT if self._scope.is_native else self._own("server.heartbeat")
            except Unauthorized:
                return
            except Overflow:
                logger.info("sse.too_slow user=%s cursor=%s", principal.user.pk, self._cursor)

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
                self._rights_changed = True
                return

    async def _pieces(self, body: Body) -> list[bytes]:
        match body["t"]:
            case "tui":
                return [frame(self._wrapped((body["type"], body["properties"])))]
            case "settings":
                return await self._settings_changed(body)
            case "events":
                return await self._stored(body)
            case "delta" | "progress" | "edited" | "servers" | "command" | "deleted":
                return await self._live_pieces(body)
            case "terminal" | "place":
                return await self._live_pieces(body)
        return []

    async def _settings_changed(self, body: SettingsChanged) -> list[bytes]:
        """Have the client read again what it has read at its start."""
        home, project_id = self._scope.home, body["project"]
        is_at_home = home is not None and home.team_id == body["team"]
        if project_id is not None:
            is_at_home = home is not None and home.project_id == project_id
        directory = home.directory if home is not None and is_at_home else ""
        is_shown = self._scope.project_id in (None, project_id) and not directory
        if project_id and is_shown and await self._sees(body["team"], project_id):
            directory = await in_view_db(project_directory, project_id)
        pieces = []
        if directory:
            disposed: WireEvent = ("server.instance.disposed", {"directory": directory})
            pieces.append(self._encode(disposed, directory=directory, project=project_id))
        if self._scope.is_global and project_id is None:
            everywhere: WireEvent = ("global.disposed", {})
            pieces.append(self._encode(everywhere, directory="global", project=None))
        return pieces

    async def _from_log(self) -> AsyncIterator[bytes]:
        """What the bus lost, or what came before this connection."""
        end = None
        while end is None:
            page = await in_view_db(
                read_page, self._cursor, self._scope.principal, self._scope.project_id
            )
            pieces = [piece for body in page.bodies for piece in await self._stored(body)]
            if pieces:
                yield b"".join(pieces)
            end = page.end
        self._cursor = self._cursor.add(end)

    async def _is_in_scope(self, body: TeamBody) -> bool:
        if self._scope.project_id not in (None, body["project"]):
            return False
        user_id, team_id = self._scope.principal.user.pk, body["team"]
        if cast(Mapping[str, object], body).get("private_to", user_id) != user_id:
            return team_id in await self._oversees()
        match body["t"]:
            case "terminal" if body["user"] != user_id:
                return False
            case "terminal" | "deleted":
                seen = body["project"]
            case "place":
                seen = body.get("session", body["project"])
            case _:
                seen = body["session"]
        return await self._sees(team_id, seen)

    async def _oversees(self) -> frozenset[str]:
        if self._overseen is None:
            self._overseen = await in_view_db(overseen_of, self._scope.principal)
        return self._overseen

    async def _sees(self, team_id: str, id: str) -> bool:
        """Whether the principal sees a session or project."""
        if team_id in await self._oversees():
            return True
        if id not in self._seen:
            self._seen[id] = await in_view_db(is_seen, self._scope.principal, id)
        return self._seen[id]

    async def _live_pieces(self, body: LiveBody) -> list[bytes]:
        if not await self._is_in_scope(body):
            return []
        return [
            self._encode(event, directory=body["directory"], project=body["project"])
            for event in to_live_events(body, now_ms=int(time.time() * 1000))
        ]

    async def _stored(self, body: EventsBody) -> list[bytes]:
        if not await self._is_in_scope(body):
            return []
        fresh = [record for record in body["events"] if not self._cursor.has(record["id"])]
        session_id = body["session"]
        info = None
        if any(needs_session(record) for record in fresh):
            info = await _infos.of(body, partial(in_view_db, session_info, session_id))
            if info is None:
                return []
        diffs = []
        if any(needs_diffs(record) for record in fresh):
            diffs = await _diffs.of(body, partial(in_view_db, session_diffs, session_id))
        references: References = {}
        if self._scope.is_native and any(needs_references(record) for record in fresh):
            read = partial(in_view_db, read_references, session_id, body["events"])
            references = await _references.of(body, read)
        return [
            piece
            for record in fresh
            for piece in self._record_pieces(body, record, _Around(info, diffs, references))
        ]

    def _record_pieces(self, body: EventsBody, record: Record, around: _Around) -> Iterator[bytes]:
        self._cursor = self._cursor.add(record["id"])
        session_id, directory, project = body["session"], body["directory"], body["project"]
        events = to_wire_events(session_id, record, around.info, around.diffs)
        if self._scope.is_native:
            referred = around.references
            frames = list(
                native_frames(session_id, record, events, references=referred, directory=directory)
            )
        else:
            frames = [
                self._framed(
                    event,
                    id=stored_event_id(record, place),
                    directory=directory,
                    project=project,
                )
                for place, event in enumerate(events)
            ]
        for number, data in enumerate(frames, 1):
            # Only the last frame carries the cursor: who is cut off between them gets all again.
            yield frame(data, id=str(self._cursor) if number == len(frames) else None)

    def _encode(self, event: WireEvent, *, directory: str, project: str | None) -> bytes:
        return frame(self._framed(event, id=new_id("evt"), directory=directory, project=project))

    def _framed(
        self, event: WireEvent, *, id: str, directory: str, project: str | None
    ) -> JsonObject:
        if self._scope.is_native:
            return native(event, id=id, directory=directory)
        if self._scope.is_global:
            return envelope(event, id=id, directory=directory, project=project)
        return plain(event, id=id)

    def _own(self, kind: str) -> bytes:
        return frame(self._wrapped((kind, {})), id=str(self._cursor))

    def _wrapped(self, event: WireEvent) -> JsonObject:
        if self._scope.is_native:
            return native(event, id=new_id("evt"))
        return (envelope if self._scope.is_global else plain)(event, id=new_id("evt"))


async def open_stream(scope: Scope, *, last_event_id: str = "") -> AsyncIterator[bytes]:
    """Start a stream. Returns: encoded frames, `server.connected` first."""
    # The place in the log is taken before anything is subscribed to, so nothing falls in between.
    cursor = Cursor.parse(last_event_id)
    if cursor is None:
        cursor = await in_view_db(newest_cursor)
    team_ids = await in_view_db(live_team_ids, scope.principal)
    return EventStream(scope, cursor).frames(team_ids)
