"""Wait for the host of a session to have put its files back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound, Unavailable
from opencode_web.lib.ids import is_id
from sessions.access import SessionAccess, access_session
from sessions.events.live import session_group, team_group
from sessions.models import Event, Session
from sessions.stream.hub import flushed
from sessions.stream.rights import watch_rights
from sessions.stream.turns import wait_until
from sessions.wire import SessionWire, session_to_wire
from teams.auth import Principal
from teams.models import Role

WAIT_S = 120.0


async def put_back(
    principal: Principal, session_id: str, act: Callable[[SessionAccess], Session]
) -> SessionWire:
    """Ask for it by `act`, and wait until it is done.

    Returns: the session as it is then, as `Session` of the wire.
    Raises: what `act` raises; Unavailable when the files could not be put back, or not yet.
    """
    # Before anything is asked of the database; the bus takes no other characters.
    if not is_id(session_id, "ses"):
        raise NotFound("Session", session_id)
    async with watch_rights(principal, session_group(session_id)) as subscription:
        asked, since = await in_db(_act, principal, session_id, act)
        if since is None:
            return asked
        try:
            async with asyncio.timeout(WAIT_S):
                check = partial(_outcome, principal, session_id, since)
                done, team_id = await wait_until(principal, check, subscription)
        except TimeoutError as exc:
            raise Unavailable(
                "The host with the project's files has not responded yet. The files are restored "
                "as soon as one of its workers is free."
            ) from exc
    await flushed(team_group(team_id))
    return done


def _act(
    principal: Principal, session_id: str, act: Callable[[SessionAccess], Session]
) -> tuple[SessionWire, int | None]:
    """Returns: the session, and the newest event before the work, None when none is to be done."""
    access = access_session(principal, session_id, need=Role.MEMBER)
    session = act(access)
    return session_to_wire(session), session.seq if session.run.restore else None


def _outcome(principal: Principal, session_id: str, since: int) -> tuple[SessionWire, str] | None:
    session = access_session(principal, session_id).session
    if session.run.restore:
        return None
    done = Event.objects.filter(
        session=session, seq__gt=since, type__in=("session.reverted", "file.reverted")
    )
    if not done.exists():
        raise Unavailable(session.outcome_detail or "The files could not be put back.")
    return session_to_wire(session), session.project.team_id
