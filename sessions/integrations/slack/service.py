"""Speak with Slack for a workspace: one process of all, for as long as it holds the lease.

It writes what is due, and in Socket Mode has the one connection by which everything comes. The beat
has every process look for workspaces that nobody serves; one that dies is followed within LEASE_S.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from datetime import timedelta
from functools import partial

from django.db.models import Q
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from sessions.integrations.slack.answers import Outbox
from sessions.integrations.slack.api import SlackError, slack_of
from sessions.models import SlackWorkspace
from sessions.processes import process_name

logger = logging.getLogger(__name__)

LEASE_S = 30.0
_RENEW_S, _TICK_S = 10.0, 1.0

# What this process serves, by the ids of integrations.
_served: dict[str, asyncio.Task[None]] = {}


def start_serving() -> Future[None]:
    """Take up the workspaces that nobody serves, on the process's own loop."""
    return submit(_take_up())


async def _take_up() -> None:
    for integration_id in await in_db(_free):
        if integration_id not in _served and await in_db(take, integration_id):
            task = asyncio.ensure_future(_serve(integration_id))
            _served[integration_id] = task
            task.add_done_callback(partial(_forget, integration_id))


def _forget(integration_id: str, _task: asyncio.Task[None]) -> None:
    _served.pop(integration_id, None)


def stop_serving(timeout_s: float = 2.0) -> None:
    """Leave every workspace to others. Called from any thread but the loop's own."""
    if _served:
        submit(_stop()).result(timeout_s)


async def _stop() -> None:
    tasks = list(_served.values())
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def _free() -> list[str]:
    return list(SlackWorkspace.objects.filter(_nobodys()).values_list("pk", flat=True))


def _nobodys() -> Q:
    return Q(served_until=None) | Q(served_until__lt=timezone.now())


def take(integration_id: str) -> bool:
    """Take the lease on a workspace. Returns: False where another process has it."""
    return _lease(integration_id, _nobodys())


def keep_lease(integration_id: str) -> bool:
    """Hold the lease longer. Returns: False where it is lost, as by other tokens."""
    return _lease(integration_id, Q(served_by=process_name(), served_until__gte=timezone.now()))


def _lease(integration_id: str, may: Q) -> bool:
    rows = SlackWorkspace.objects.filter(may, pk=integration_id)
    until = timezone.now() + timedelta(seconds=LEASE_S)
    return bool(rows.update(served_by=process_name(), served_until=until))


def release(integration_id: str) -> None:
    """Let somebody else take it at once."""
    rows = SlackWorkspace.objects.filter(pk=integration_id, served_by=process_name())
    rows.update(served_by="", served_until=None)


async def _serve(integration_id: str) -> None:
    """Until the lease is lost: with the workspace, its tokens or this process."""
    try:
        row = await in_db(
            SlackWorkspace.objects.select_related("integration").get, pk=integration_id
        )
        outbox = Outbox(row, slack_of(row))
        async with asyncio.TaskGroup() as group:
            parts = [group.create_task(_write(outbox))]
            if row.app_token:
                from sessions.integrations.slack import socket

                parts.append(group.create_task(socket.listen(row)))
            while await in_db(keep_lease, integration_id):
                await asyncio.sleep(_RENEW_S)
            for part in parts:
                part.cancel()
    except SlackError as exc:
        await in_db(note, integration_id, exc.told)
    except Exception:  # the edge of a task: somebody takes it up again when the lease is over
        logger.exception("slack.serving_failed integration=%s", integration_id)
    finally:
        await asyncio.shield(in_db(release, integration_id))


async def _write(outbox: Outbox) -> None:
    while True:
        await outbox.send()
        await asyncio.sleep(_TICK_S)


def note(integration_id: str, told: str) -> None:
    """Tell admins why Slack could not be reached; nothing once it can."""
    SlackWorkspace.objects.filter(pk=integration_id).update(problem=told)
