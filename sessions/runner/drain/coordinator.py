"""Who drains a session, and what ends a drain from outside: a stop, a lost lease, a shutdown."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from functools import partial

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from opencode_web.lib.bus import subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.disk import is_disk_full
from opencode_web.lib.loop import submit
from opencode_web.lib.telemetry import operation
from sessions.actions.control import stop_without_author
from sessions.events.store import LeaseLost, SessionGone
from sessions.language_servers.running import end_all_servers, end_servers
from sessions.processes import process_name
from sessions.runner.calls.call_stops import hear_stop
from sessions.runner.drain.admission import GivesWay, ring_measuring, ring_next, take_up
from sessions.runner.drain.advance import settle_cancelled
from sessions.runner.drain.endings import fail_drain
from sessions.runner.drain.forward_wake import ring_others
from sessions.runner.drain.loop import drain
from sessions.runner.files.changes import stopped_summary
from sessions.runner.log.lease import Lease, abandon_lease, acquire_lease, renew_lease
from sessions.runner.offers.mcp_kept import (
    end_kept_servers,
    end_session_servers,
    give_up_waiting_calls,
    look_after_servers,
)
from sessions.wake import STOP_GROUP, wake_in_line
from tools.sandbox.trees import collect_trees, forget_trees, kill_trees

logger = logging.getLogger(__name__)

_DATABASE_GONE = (OperationalError, InterfaceError)
# A database that restarts, or fails over, is back within seconds.
_DATABASE_RETRIES_S = (0.1, 0.5, 1, 2, 4)
# From the commit that releases a lease to the end of its drain, under load.
_ENDING_S = 0.5
# Between two looks whether those who work here may still.
AUTHORS_S = 2.0

_LISTENS_AGAIN_S = 2.0
# A ring looks so often who is next, when others are faster each time.
_MOST_LOOKS = 8

# Nothing of a session is left running then; after a turn that ended well its next may come soon.
_ENDS_SERVERS = frozenset({"stopped", "handed_over", "deleted", "lease_lost"})
# What MCP servers remember is lost with them, so a stop is no reason: they are told of it.
_ENDS_MCP_SERVERS = _ENDS_SERVERS - {"stopped"}

# The drains of this process, by session. Lost with it, and nothing is lost by that.
_drains: dict[str, asyncio.Task[None]] = {}
# Those of them whose newest prompt is the one that they work on: before, it is of an earlier turn.
_begun: set[str] = set()
# Those of them that have run tools.
_used_tools: set[str] = set()
_listener: asyncio.Task[None] | None = None
_authors: asyncio.Task[None] | None = None
# The sessions of wakes: they are about to be drained, are, or have nothing to do.
_woken: list[str] = []
# Sessions that somebody asked to stop between taking the lease and the begin of the drain.
_missed_stops: set[str] = set()
_leaving = False
_draining = False


def is_draining() -> bool:
    """Whether this process takes up no session, but ends what it has begun."""
    return _draining


def set_draining(drains: bool) -> None:
    """Take up no session from now on, or take them up again."""
    global _draining
    if drains != _draining:
        logger.warning("worker.%s", "drains" if drains else "takes_up_again")
    _draining = drains


def woken() -> int:
    """Returns: how many sessions this process drains or is about to."""
    return len(_woken)


def is_leaving() -> bool:
    """Whether this process is about to end, so that it begins nothing more."""
    return _leaving


async def run_session(session_id: str) -> None:
    """Drain the session, unless a live worker does: that one looks again before it ends.

    Where not all in line find a place, who is next takes this one.
    """
    _listen()
    if _leaving:
        return
    if _draining and session_id not in _woken:
        await in_db(ring_others, session_id)
        return
    asked = session_id
    for _ in range(_MOST_LOOKS):
        taken = await _run(asked, rung=session_id)
        if isinstance(taken, GivesWay):
            asked = taken.to
        elif taken is None and asked != session_id:
            asked = session_id  # another worker was faster with the one that goes first
        else:
            return
    # The beat rings again.


async def _run(session_id: str, *, rung: str) -> Lease | GivesWay | None:
    """Drain a session if it may be now. Returns: what came of `take_up`."""
    _woken.append(session_id)
    try:
        taken = await _take_up(session_id)
        if isinstance(taken, Lease):
            if session_id != rung:
                # The ring for the one that goes first will find nothing to do.
                await in_db(wake_in_line, [rung])
            await _drain(taken)
            if session_id in _used_tools:
                _used_tools.remove(session_id)
                with suppress(*_DATABASE_GONE):  # it is measured every hour, too
                    await in_db(ring_measuring, session_id)
            if taken.team_id:
                with suppress(*_DATABASE_GONE):  # as above
                    await in_db(ring_next, taken.team_id)
        return taken
    finally:
        _woken.remove(session_id)
        if session_id not in _woken:
            _missed_stops.discard(session_id)


async def _take_up(session_id: str) -> Lease | GivesWay | None:
    try:
        places = settings.WORKER_CONCURRENCY - len(_woken) + 1
        return await in_db(take_up, session_id, places=places)
    except _DATABASE_GONE:
        raise  # the beat rings again
    except Exception as exc:  # as in `_drain`; nothing of it was written, not even the lease
        logger.exception("drain.failed session=%s", session_id)
        lease = await in_db(acquire_lease, session_id)
        if lease is not None:
            await in_db(fail_drain, lease, exc)
        return None


async def _drain(lease: Lease) -> None:
    session_id = lease.session_id
    with operation("drain", session=session_id, taken_over=lease.taken_over) as run:
        begun, runs_tools = (partial(ids.add, session_id) for ids in (_begun, _used_tools))
        work = drain(lease, leaves=is_leaving, begun=begun, runs_tools=runs_tools)
        with collect_trees(session_id):
            task = asyncio.create_task(work, name=f"drain {session_id}")
        keeper = asyncio.create_task(_keep(lease, task))
        _drains[session_id] = task
        _watch_authors()
        if session_id in _missed_stops:
            _missed_stops.remove(session_id)
            task.cancel()
        try:
            await task
        except LeaseLost:
            run.outcome = "lease_lost"
        except SessionGone:  # somebody has deleted it; nothing is left to settle
            run.outcome = "deleted"
        except asyncio.CancelledError:
            run.outcome = await _after_cancel(lease)
        except _DATABASE_GONE as exc:
            run.outcome = "database_lost"
            logger.warning("drain.database_lost session=%s", session_id, exc_info=exc)
            await _give_back(lease, exc)
        except Exception as exc:  # the edge of a Celery task: no fault leaves the session stuck
            run.outcome = "failed"
            logger.exception("drain.failed session=%s", session_id)
            await in_db(fail_drain, lease, exc)
        finally:
            keeper.cancel()
            _drains.pop(session_id, None)
            _begun.discard(session_id)
            forget_trees(session_id)
        if run.outcome in _ENDS_SERVERS:
            await end_servers(session_id)
        if run.outcome in _ENDS_MCP_SERVERS:
            await end_session_servers(session_id)
        elif run.outcome == "stopped":
            give_up_waiting_calls(session_id)


async def _give_back(lease: Lease, exc: Exception) -> None:
    """Have the session taken over as that of a dead owner: what was written last is not known.

    On a full disk it ends instead: a turn that goes on would only fill it further.
    """
    end = partial(fail_drain, lease, exc) if is_disk_full(exc) else partial(abandon_lease, lease)
    for wait_s in _DATABASE_RETRIES_S:
        await asyncio.sleep(wait_s)
        try:
            await in_db(end)
        except DatabaseError:
            continue
        except LeaseLost:
            pass
        return
    # The lease runs out by itself, and the beat finds the session.


async def _after_cancel(lease: Lease) -> str:
    try:
        # Without a stop request the session is handed over: the next worker goes on where the rows
        # end. With the stop request in its row, this settles everything and says who stopped it.
        events = await stopped_summary(lease.session_id)
        return "stopped" if await in_db(settle_cancelled, lease, events) else "handed_over"
    except LeaseLost:
        return "lease_lost"
    except SessionGone:
        return "deleted"


async def _keep(lease: Lease, task: asyncio.Task[None]) -> None:
    """Renew the lease, and find a stop request whose signal was lost."""
    renewed = time.monotonic()
    while True:
        await asyncio.sleep(settings.LEASE_S / 4)
        try:
            stop_wanted = await in_db(renew_lease, lease)
        except DatabaseError as exc:
            logger.warning("drain.renew_failed session=%s", lease.session_id, exc_info=exc)
            # Until it has run out for everybody, nobody else can have taken it.
            stop_wanted = False if time.monotonic() - renewed < settings.LEASE_S else None
        else:
            renewed = time.monotonic()
        if stop_wanted is None:
            # Mostly the drain has just given it back and is about to end.
            await asyncio.sleep(_ENDING_S)
            logger.warning("drain.lease_lost session=%s", lease.session_id)
        if stop_wanted is not False:
            task.cancel()
            return


def _watch_authors() -> None:
    """Look after the rights of those who prompted, while this process drains anything."""
    global _authors
    if _authors is None or _authors.done():
        _authors = asyncio.create_task(_interrupt_without_author(), name="authors")


async def _interrupt_without_author() -> None:
    """End the turns of people who have lost their rights, with the commands that run for them."""
    while _drains:
        await asyncio.sleep(AUTHORS_S)
        begun = {session_id: _drains.get(session_id) for session_id in _begun}
        try:
            lost = await in_db(stop_without_author, list(begun))
        except _DATABASE_GONE as exc:
            logger.warning("drain.authors_not_read", exc_info=exc)
            continue
        for session_id in lost:
            # Not the next turn, of somebody else, that has begun meanwhile.
            task = begun[session_id]
            # A second cancel would cut off the cleaning up after the first.
            if task is not None and not task.cancelling():
                logger.info("drain.author_gone session=%s", session_id)
                _cancel(task)


async def listen() -> None:
    """Hear what this process is asked to do, also before its first drain."""
    _listen()


def _listen() -> None:
    """Hear stop requests, from the first drain of this process on."""
    global _listener
    if _listener is None or _listener.done():
        _listener = asyncio.create_task(_hear_stops())


async def _hear_stops() -> None:
    while True:
        try:
            await _hear()
        except OSError as exc:
            # Until the bus is back, stops are found in the rows when leases are renewed.
            logger.warning("listener.lost %s", exc)
            await asyncio.sleep(_LISTENS_AGAIN_S)


async def _hear() -> None:
    async with subscribe(STOP_GROUP) as messages:
        async for message in messages:
            if message.get("t") == "call stop":
                hear_stop(message)
                continue
            if message.get("t") == "drain":
                if message.get("process") == process_name():
                    set_draining(message.get("on") is True)
                continue
            if message.get("t") == "mcp":
                look_after_servers()
                continue
            session_id = str(message.get("session"))
            if message.get("t") == "kill":
                logger.warning("drain.kill session=%s n=%d", session_id, kill_trees(session_id))
                await end_session_servers(session_id)
                continue
            task = _drains.get(session_id)
            if task is not None:
                _cancel(task)
            elif session_id in _woken:
                _missed_stops.add(session_id)


def _cancel(task: asyncio.Task[None]) -> None:
    """Cancel a drain that may run on another loop of this process than its listener."""
    task.get_loop().call_soon_threadsafe(task.cancel)


async def _leave(grace_s: float) -> None:
    """Begin nothing more, let what runs come to the end of its step, and cancel the rest."""
    global _leaving
    _leaving = True
    await _until_empty(grace_s)
    for task in list(_drains.values()):
        task.cancel()
    # The tasks are awaited by `run_session`, which also gives the leases back.
    await _until_empty(None)
    await asyncio.gather(end_all_servers(), end_kept_servers())


async def _until_empty(seconds: float | None) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while _woken:
                await asyncio.sleep(0.01)


def shutdown(*, grace_s: float, timeout_s: float) -> None:
    """Hand every session of this process over to whoever comes next.

    For `grace_s` the steps that run may come to their end; then they are cut off.

    Must be called from a thread other than the loop's.
    Raises: TimeoutError when that took longer than both together.
    """
    submit(_leave(grace_s)).result(grace_s + timeout_s)
