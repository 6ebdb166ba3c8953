"""Telling plugins what happens in the sessions of their project, as the API tells its clients.

They hear of what the person may see who has prompted last in their session, but of private sessions
only where they are in one. Nobody waits for them: what they do not keep up with is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import cast

from opencode_web.lib.bus import subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.shapes import as_json
from sessions.access import SessionAccess
from sessions.events.bodies import EventsBody
from sessions.events.live import team_group
from sessions.models import Session
from sessions.runner.offers.plugin_client import PluginClient, told_sessions
from sessions.wire import session_to_wire
from sessions.wire_events import plain, to_wire_events
from tools.errors import ToolError
from tools.mcp.exchange import Exchange
from tools.plugins.host import tell_events

# Of those that wait, the oldest are dropped.
MAX_WAITING = 200
MAX_BYTES = 256 * 1024
_AT_ONCE = 50
_PAUSE_S = 0.5
# No growing texts, and nothing of terminals.
_TOLD = frozenset(
    {
        *("session.created", "session.updated", "session.status", "session.idle"),
        *("session.error", "session.compacted", "message.updated", "message.removed"),
        *("message.part.updated", "message.part.removed", "permission.asked"),
        *("permission.replied", "question.asked", "question.replied", "question.rejected"),
        "todo.updated",
    }
)


@contextlib.asynccontextmanager
async def telling(exchange: Exchange, session: Session) -> AsyncIterator[None]:
    """Tell the plugins of a session's process of events while the block runs."""
    task = asyncio.create_task(_tell(exchange, session), name="plugin events")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.result()


async def _tell(exchange: Exchange, session: Session) -> None:
    waiting: deque[EventsBody] = deque(maxlen=MAX_WAITING)
    arrived = asyncio.Event()
    async with subscribe(team_group(session.project.team_id)) as bodies:
        collecting = asyncio.create_task(_collect(bodies, session.project_id, waiting, arrived))
        try:
            while not exchange.is_over:
                await arrived.wait()
                # What gathers is told together: a short turn is one look at what may be seen.
                await asyncio.sleep(_PAUSE_S)
                arrived.clear()
                while waiting and not exchange.is_over:
                    count = min(len(waiting), _AT_ONCE)
                    await _tell_some(exchange, session, [waiting.popleft() for _ in range(count)])
        finally:
            collecting.cancel()
            await asyncio.wait({collecting})
            if not collecting.cancelled():
                collecting.result()


async def _collect(
    bodies: AsyncIterator[JsonObject],
    project_id: str,
    waiting: deque[EventsBody],
    arrived: asyncio.Event,
) -> None:
    async for body in bodies:
        if body.get("t") == "events" and body.get("project") == project_id:
            waiting.append(cast(EventsBody, body))  # as `events.live` publishes it
            arrived.set()


async def _tell_some(exchange: Exchange, session: Session, bodies: Sequence[EventsBody]) -> None:
    client = PluginClient(session)
    # Whoever has lost their rights is told of nothing; a process that has ended hears nothing.
    with contextlib.suppress(AppError, ToolError):
        access = await in_db(client.access)
        events = await in_db(_seen, access, bodies)
        if events:
            await tell_events(exchange, events, client=client)


def _seen(access: SessionAccess, bodies: Sequence[EventsBody]) -> list[JsonValue]:
    # Nearly all is about the session itself, which was just looked up.
    sessions = {access.session.pk: access.session}
    if others := {body["session"] for body in bodies} - {*sessions}:
        sessions |= told_sessions(access).select_related("project").in_bulk(others)
    infos = {pk: as_json(session_to_wire(row)) for pk, row in sessions.items()}
    events: list[JsonValue] = []
    for body in bodies:
        if body["session"] not in infos:
            continue
        info = infos[body["session"]]
        for record in body["events"]:
            for event in to_wire_events(body["session"], record, info):
                shown = plain(event, id=new_id("evt"))
                if event[0] in _TOLD and len(json.dumps(shown)) <= MAX_BYTES:
                    events.append(shown)
    return events
