from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from opencode_web.lib.db import in_db
from sessions.actions.control import request_stop
from sessions.models import Part, SavedRule, Session
from sessions.runner import run_session
from sessions.runner.drain.admission import take_up
from sessions.runner.drain.advance import begin
from sessions.runner.log.lease import Lease, runnable_sessions
from sessions.runner.log.steps import Next
from teams.models import User
from tests.sessions.factories import session_access


async def drain(session: Session) -> Session:
    await asyncio.wait_for(run_session(session.pk), 30)
    await in_db(session.refresh_from_db)
    return session


def take_up_and_begin(session_id: str) -> tuple[Lease, Next | None] | None:
    """What the drain of a session does before its first step."""
    lease = take_up(session_id)
    return None if lease is None else (lease, begin(lease))


async def until(check: Callable[[], Any], *, seconds: float = 25) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not await in_db(check):
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


async def stop(user: User, session: Session) -> bool:
    access = await in_db(session_access, user, session)
    return await in_db(request_stop, access)


def is_runnable(session: Session) -> bool:
    return session.pk in [session_id for session_id, _ in runnable_sessions()]


def parts_of(session: Session, kind: str) -> list[dict[str, Any]]:
    rows = Part.objects.filter(session=session, type=kind).order_by("seq", "id")
    return [row.data for row in rows if row.message.role == "assistant"]


def allow_bash(session: Session) -> None:
    SavedRule.objects.create(
        project_id=session.project_id,
        permission="bash",
        pattern="*",
        created_at=session.created_at,
    )
