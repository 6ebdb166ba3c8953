"""Wait for a session to come to rest, without a thread or a database connection meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.access import access_session
from sessions.models import SessionInput, State
from sessions.stream.hub import Overflow, Subscription
from teams.auth import Principal

# The rows are looked at this often even when the bus says nothing: it may lose a message.
POLL_S = 5.0


async def wait_until(
    check: Callable[[], bool], subscription: Subscription, *, timeout_s: float | None = None
) -> bool:
    """Ask `check` on the database pool, again after every idle status of the watched session.

    Returns: False when `timeout_s` passed first.
    """
    try:
        async with asyncio.timeout(timeout_s):
            while not await in_db(check):
                await _next_rest(subscription)
    except TimeoutError:
        return False
    return True


async def _next_rest(subscription: Subscription) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + POLL_S
    try:
        async with asyncio.timeout_at(end):
            async for body in subscription:
                if _says_rest(body):
                    return
    except Overflow:
        await asyncio.sleep(max(0, end - loop.time()))
    except TimeoutError:
        return


def _says_rest(body: JsonObject) -> bool:
    if body["t"] == "deleted":
        return True
    events = body.get("events")
    return isinstance(events, list) and any(
        isinstance(event, dict)
        and event["type"] == "session.status"
        and isinstance(event["data"], dict)
        and event["data"]["state"] == State.IDLE
        for event in events
    )


def is_answered(principal: Principal, input_id: str, session_id: str) -> bool:
    """Whether the turn that took this prompt is over. Raises: NotFound once it is not visible."""
    if access_session(principal, session_id).session.state != State.IDLE:
        return False
    row = SessionInput.objects.filter(pk=input_id).first()
    return row is None or row.status != SessionInput.Status.ADMITTED


def is_stopped(principal: Principal, session_id: str) -> bool:
    """Whether a requested stop has been settled. Raises: NotFound once it is not visible."""
    session = access_session(principal, session_id).session
    return session.state == State.IDLE and session.run.stop_requested_at is None
