"""Ring a worker's doorbell. The queue is no truth: a lost or doubled message changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from opencode_web.lib.breaker import Breaker
from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject
from sessions.models import Project, Session

logger = logging.getLogger(__name__)

STOP_GROUP = "workers"
# A worker keeps such a message in its memory until then; what is later is left to the beat.
MAX_COUNTDOWN_S = 600.0
# Far more than the clocks of two hosts are apart; far less than workers may be busy.
REPEATED_EXPIRES_S = 60.0
# Somebody waits for the answer to a request that rings.
_RETRY = {"max_retries": 1, "interval_start": 0.1}
# Workers find sessions without rings then.
_broker = Breaker(rest_s=3.0)


def queue_for(project: Project) -> str:
    """The Celery queue whose workers can reach the project's files."""
    return f"sessions.{project.host}"


def wake(session_id: str, project: Project) -> None:
    """Have the session drained, once the transaction has committed."""
    transaction.on_commit(partial(_send, "sessions.run", session_id, queue=queue_for(project)))


def wake_again(session_id: str, project: Project) -> None:
    """The beat's ring. It rings every few seconds, so what no worker has taken by then goes."""
    _send("sessions.run", session_id, queue=queue_for(project), expires_s=REPEATED_EXPIRES_S)


def wake_title(session_id: str, project: Project) -> None:
    """Have the session named by a model, once the transaction has committed."""
    transaction.on_commit(partial(_send, "sessions.title", session_id, queue=queue_for(project)))


def wake_at(session_id: str, project: Project, moment: datetime) -> None:
    """Have the session drained at a moment, after the commit. The beat finds it as well."""
    wait_s = (moment - timezone.now()).total_seconds()
    if wait_s <= MAX_COUNTDOWN_S:
        send = partial(_send, "sessions.run", session_id, queue=queue_for(project))
        transaction.on_commit(partial(send, countdown_s=max(0.0, wait_s)))


def wake_in_line(session_ids: Sequence[str]) -> None:
    """Have sessions drained that there may be room for now, in this order."""
    found = Session.objects.select_related("project").in_bulk(session_ids)
    for session in filter(None, map(found.get, session_ids)):
        _send("sessions.run", session.pk, queue=queue_for(session.project))


def wake_clone(project: Project, *, credential: str = "") -> None:
    """Have the project's files prepared, once the transaction has committed.

    `credential` must be encrypted: it is in this message and nowhere else.
    """
    send = partial(_send, "sessions.prepare_project", project.pk, credential)
    transaction.on_commit(partial(send, queue=queue_for(project), is_only_copy=bool(credential)))


def wake_checkout(checkout_id: str, project: Project, *, credential: str = "") -> None:
    """Have the job of a checkout done, after the commit. `credential` must be encrypted."""
    send = partial(_send, "sessions.checkout", checkout_id, credential, queue=queue_for(project))
    transaction.on_commit(partial(send, is_only_copy=bool(credential)))


def wake_terminal(terminal_id: str, project: Project, *, environment: str = "") -> None:
    """Have a terminal started, after the commit. `environment` must be encrypted."""
    send = partial(_send, "sessions.terminal", terminal_id, environment, queue=queue_for(project))
    # Who asked waits for it, and is told when nobody takes it in time.
    transaction.on_commit(
        partial(send, expires_s=REPEATED_EXPIRES_S, is_only_copy=bool(environment))
    )


def wake_removal(project: Project) -> None:
    """Have the files that the server made for a project removed, after the commit."""
    # Nobody knows later which folder it was, if that stays.
    stays = project.directory if project.source == Project.Source.FOLDER else ""
    arguments = (project.pk, stays) if stays else (project.pk,)
    send = partial(_send, "sessions.remove_project_files", *arguments)
    transaction.on_commit(partial(send, queue=queue_for(project)))


def wake_erasure(erasure_id: str, project: Project | None = None) -> None:
    """Have something erased where the project's files are, after the commit."""
    queue = queue_for(project) if project else local_queue()
    transaction.on_commit(partial(_send, "sessions.run_erasure", erasure_id, queue=queue))


def wake_export(export_id: str, project: Project | None = None) -> None:
    """Have a team exported where the project's files are, after the commit."""
    queue = queue_for(project) if project else local_queue()
    transaction.on_commit(partial(_send, "opencode_web.export_team", export_id, queue=queue))


def wake_file_erasure(project: Project, session_ids: list[str]) -> None:
    """Have the project's host remove the files of sessions that are gone; without any, all."""
    _send("sessions.erase_files", project.pk, session_ids, queue=queue_for(project))


def wake_revocations() -> None:
    """Have MCP servers told which sign-ins have ended, after the commit. The beat does it too."""
    send = partial(_send, "sessions.revoke_mcp_grants", queue=local_queue())
    transaction.on_commit(partial(send, expires_s=REPEATED_EXPIRES_S))


def wake_inbound() -> None:
    """Have what was delivered handled, after the commit. The beat does it too."""
    send = partial(_send, "sessions.hear_forges", queue=local_queue())
    transaction.on_commit(partial(send, expires_s=REPEATED_EXPIRES_S))


def wake_pinning(plugin: int) -> None:
    """Have a package of a team looked up and fetched, once the transaction has committed."""
    transaction.on_commit(partial(_send, "sessions.pin_package", plugin, queue=local_queue()))


def wake_measuring(project: Project) -> None:
    """Have the space measured that the project's files take up. The beat does it, too."""
    queue, expires_s = queue_for(project), REPEATED_EXPIRES_S
    _send("sessions.measure_project", project.pk, queue=queue, expires_s=expires_s)


def wake_sweep(host: str) -> None:
    """Have a host remove the files of what is gone."""
    _send("sessions.sweep_files", queue=f"sessions.{host}")


def wake_prune(host: str) -> None:
    """Have a host pack its snapshots, and forget those that nobody can go back to."""
    _send("sessions.prune_snapshots", queue=f"sessions.{host}")


def ring_host(host: str, task: str, *arguments: object, expires_s: float) -> None:
    """Ask a host for something at once; after `expires_s` nobody waits for it any more."""
    _send(task, *arguments, queue=f"sessions.{host}", expires_s=expires_s)


def signal_stop(session_id: str) -> None:
    """Tell the owner of the session's lease to look at its stop flag now, after the commit."""
    transaction.on_commit(partial(publish, STOP_GROUP, {"t": "stop", "session": session_id}))


def signal_kill(session_id: str) -> None:
    """Have the owner of the lease kill all that the turn has started, after the commit."""
    transaction.on_commit(partial(publish, STOP_GROUP, {"t": "kill", "session": session_id}))


def signal_servers() -> None:
    """Have every process look, after the commit, whether the MCP servers that it keeps may still be
    there. Each looks now and then by itself."""
    transaction.on_commit(partial(publish, STOP_GROUP, {"t": "mcp"}))


def signal_drain(process: str, *, drains: bool) -> None:
    """Tell a process to take up no session, or to take them up again, after the commit."""
    said: JsonObject = {"t": "drain", "process": process, "on": drains}
    transaction.on_commit(partial(publish, STOP_GROUP, said))


def signal_call_stop(part_id: str, by: str) -> None:
    """Tell whoever runs the call of a part to end it, after the commit."""
    said: JsonObject = {"t": "call stop", "part": part_id, "by": by}
    transaction.on_commit(partial(publish, STOP_GROUP, said))


def _send(
    task: str,
    *arguments: object,
    queue: str,
    countdown_s: float | None = None,
    expires_s: float | None = None,
    is_only_copy: bool = False,
) -> None:
    """`is_only_copy`: the message has what is nowhere else, so the broker is asked all the same."""
    if _broker.is_open and not is_only_copy:
        # With an exception it is counted with the others of the outage.
        resting = OperationalError("It did not answer a moment ago.")
        logger.warning("wake.skipped task=%s", task, exc_info=resting)
        return
    try:
        current_app.send_task(
            task,
            args=arguments,
            queue=queue,
            countdown=countdown_s,
            expires=expires_s,
            ignore_result=True,
            retry_policy=_RETRY,
        )
    except OperationalError as exc:
        # What was committed is not undone by a broker that is away: the beat rings again.
        _broker.trip()
        logger.warning("wake.failed task=%s", task, exc_info=exc)


def local_queue() -> str:
    """The queue that the workers of this host serve."""
    return f"sessions.{settings.HOST_NAME}"
