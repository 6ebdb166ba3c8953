"""Who drains a session, and what ends a drain from outside: a stop, a lost lease, a shutdown."""

from __future__ import annotations

import asyncio
import logging
import time

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from opencode_web.lib.bus import subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from opencode_web.lib.telemetry import operation
from sessions.events.store import LeaseLost
from sessions.runner.advance import settle_cancelled
from sessions.runner.endings import fail_drain
from sessions.runner.lease import (
    Lease,
    abandon_lease,
    acquire_lease,
    release_lease,
    renew_lease,
)
from sessions.runner.loop import drain
from sessions.wake import STOP_GROUP

logger = logging.getLogger(__name__)

# A database that restarts, or fails over, is back within seconds.
_DATABASE_RETRIES_S = (0.1, 0.5, 1, 2, 4)

# The drains of this process, by session. Lost with it, and nothing is lost by that.
_drains: dict[str, asyncio.Task[None]] = {}
_listener: asyncio.Task[None] | None = None
_shutting_down = False


async def run_session(session_id: str) -> None:
    """Drain the session, unless a live worker does: that one looks again before it ends."""
    _listen()
    if _shutting_down:
        return
    lease = await in_db(acquire_lease, session_id)
    if lease is None:
        return
    with operation("drain", session=session_id, taken_over=lease.taken_over) as run:
        task = asyncio.create_task(drain(lease), name=f"drain {session_id}")
        keeper = asyncio.create_task(_keep(lease, task))
        _drains[session_id] = task
        try:
            await task
        except LeaseLost:
            run.outcome = "lease_lost"
        except asyncio.CancelledError:
            run.outcome = await _after_cancel(lease)
        except (OperationalError, InterfaceError) as exc:
            run.outcome = "database_lost"
            logger.warning("drain.database_lost session=%s %s", session_id, exc)
            await _give_back(lease)
        except Exception:  # the edge of a Celery task: our fault must not leave the session stuck
            run.outcome = "failed"
            logger.exception("drain.failed session=%s", session_id)
            await in_db(fail_drain, lease)
        finally:
            keeper.cancel()
            _drains.pop(session_id, None)


async def _give_back(lease: Lease) -> None:
    """Have the session taken over as that of a dead owner: what was written last is not known."""
    for wait_s in _DATABASE_RETRIES_S:
        await asyncio.sleep(wait_s)
        try:
            await in_db(abandon_lease, lease)
        except DatabaseError:
            continue
        return
    # The lease runs out by itself, and the beat finds the session.


async def _after_cancel(lease: Lease) -> str:
    if _shutting_down:
        # The session stays busy without an owner: the next worker goes on where the rows end.
        await in_db(release_lease, lease)
        return "handed_over"
    try:
        # With the stop request in its row, this settles everything and says who stopped it.
        return "stopped" if await in_db(settle_cancelled, lease) else "handed_over"
    except LeaseLost:
        return "lease_lost"


async def _keep(lease: Lease, task: asyncio.Task[None]) -> None:
    """Renew the lease, and find a stop request whose signal was lost."""
    renewed = time.monotonic()
    while True:
        await asyncio.sleep(settings.LEASE_S / 4)
        try:
            stop_wanted = await in_db(renew_lease, lease)
        except DatabaseError as exc:
            logger.warning("drain.renew_failed session=%s %s", lease.session_id, exc)
            # Until it has run out for everybody, nobody else can have taken it.
            stop_wanted = False if time.monotonic() - renewed < settings.LEASE_S else None
        else:
            renewed = time.monotonic()
        if stop_wanted is None:
            logger.warning("drain.lease_lost session=%s", lease.session_id)
        if stop_wanted is not False:
            task.cancel()
            return


def _listen() -> None:
    """Hear stop requests, from the first drain of this process on."""
    global _listener
    if _listener is None or _listener.done():
        _listener = asyncio.create_task(_hear_stops())


async def _hear_stops() -> None:
    async with subscribe(STOP_GROUP) as messages:
        async for message in messages:
            task = _drains.get(str(message.get("session")))
            if task is not None:
                task.cancel()


async def _cancel_all() -> None:
    global _shutting_down
    _shutting_down = True
    tasks = list(_drains.values())
    for task in tasks:
        task.cancel()
    # The tasks are awaited by `run_session`, which also gives the leases back.
    while _drains:
        await asyncio.sleep(0.01)


def shutdown(timeout_s: float = 8.0) -> None:
    """Hand every session of this process over to whoever comes next.

    Must be called from a thread other than the loop's.
    """
    submit(_cancel_all()).result(timeout_s)
