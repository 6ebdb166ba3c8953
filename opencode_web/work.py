"""Take and give up the work of a worker, as the embedded server and `celery worker` do it."""

from __future__ import annotations

import logging
from concurrent.futures import Future

from django.conf import settings
from django.db import connection

from opencode_web.heartbeat import Heartbeat
from opencode_web.lib.loop import submit
from providers.tally import last_hour
from sessions import runner
from sessions.checkouts.rows import unfinished_jobs
from sessions.integrations.slack.service import stop_serving
from sessions.jobs import clones
from sessions.models import ServerProcess
from sessions.runner.log import lease
from sessions.runner.log.pulse import growing_sessions
from sessions.terminals import host
from sessions.wake import wake, wake_checkout

logger = logging.getLogger(__name__)

_TERMINALS_TIMEOUT_S = 2.0
_CLONES_TIMEOUT_S = 2.0
_DRAINS_TIMEOUT_S = 3.0


_heartbeats: list[Heartbeat] = []


def begin_work(kind: ServerProcess.Kind) -> None:
    """Say that this process takes work, and ring for what waits for one."""
    heartbeat = Heartbeat(
        kind,
        growing=growing_sessions,
        providers=last_hour,
        drains=runner.is_draining,
        set_drain=runner.set_draining,
    )
    _heartbeats.append(heartbeat)
    heartbeat.start()
    submit(runner.listen())
    ring_runnable()


def ring_runnable() -> None:
    """Ring for what waits for a worker, so that it does not wait for the beat."""
    for session_id, project in lease.runnable_sessions():
        wake(session_id, project)
    # Whose worker may have been the one that ended before this began.
    for checkout in unfinished_jobs():
        wake_checkout(checkout.pk, checkout.project)
    connection.close()


def run_runnable() -> None:
    """Drain the runnable sessions of this host that nobody drains, without a ring for them."""
    places = settings.WORKER_CONCURRENCY - runner.woken()
    for session_id, project in lease.runnable_sessions():
        if places > 0 and project.host == settings.HOST_NAME:
            places -= 1
            submit(runner.run_session(session_id)).add_done_callback(_log_failure)


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (failure := done.exception()):
        logger.error("work.run_failed", exc_info=failure)


def stop_work() -> None:
    """Hand every clone and drain of this process over to others, or to the next start."""
    try:
        host.end_terminals(_TERMINALS_TIMEOUT_S)
        clones.cancel_clones(_CLONES_TIMEOUT_S)
        stop_serving()
        runner.shutdown(grace_s=settings.STOP_GRACE_S, timeout_s=_DRAINS_TIMEOUT_S)
    except TimeoutError:
        # Leases run out by themselves; whoever takes them settles what is left open.
        logger.warning("work.stop_timeout")
    while _heartbeats:
        _heartbeats.pop().end()
