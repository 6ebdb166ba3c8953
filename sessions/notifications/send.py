"""Send what is due, each once: a message is gone when it was sent, or when it is no news any more.

What was claimed by a worker that died is due again when its claim is over.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.actions.deliveries import BACKOFF_S, BATCH, claim_due, work_through
from sessions.models import Notification, NotificationKind, PushSubscription
from sessions.notifications.addressing import address, choice_for, collect_budget_notices
from sessions.notifications.channels.base import Channel, Message, Result
from sessions.notifications.channels.registry import channel_of
from sessions.notifications.choices import Choices
from sessions.notifications.messages import compose
from teams.models import User

logger = logging.getLogger(__name__)

# Longer than an attempt can take: then its worker is taken to be dead.
CLAIMED_FOR = timedelta(minutes=2)
KEPT_FOR = timedelta(days=14)
_MAX_DIGEST = 500
_State = Notification.State


@dataclass(frozen=True)
class _Outgoing:
    channel: Channel
    user: User
    device: PushSubscription | None
    message: Message


async def send_notifications() -> int:
    """Send what is due. Returns: how many messages were looked at."""
    await in_db(collect_budget_notices)
    return await work_through(_claim, _send)


def prune_notifications() -> int:
    """Remove what could not be sent or was not opened long ago. Returns: how many."""
    old = Notification.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    return old.exclude(state=_State.PENDING).delete()[0]


def _claim() -> list[list[Notification]]:
    """Returns: what is due, by message. What is for nobody yet stands alone."""
    rows = Notification.objects.filter(state=_State.PENDING)
    rows = rows.select_related("user", "device", "budget__team", "session__project__team")
    rows = rows.select_related("change__team", "change__project", "change__asker")
    rows = rows.order_by("next_at", "pk")
    single = claim_due(rows.filter(is_held=False), BATCH, lasts=CLAIMED_FOR)
    return [[row] for row in single] + _claim_held(rows.filter(is_held=True))


def _claim_held(rows: QuerySet[Notification]) -> list[list[Notification]]:
    """Returns: what is due, of each person, channel and device together."""
    due = rows.filter(next_at__lte=timezone.now())[:BATCH]
    whose = {(row.user_id, row.channel, row.device_id) for row in due}
    found = (
        claim_due(
            rows.filter(user=user, channel=channel, device=device),
            _MAX_DIGEST,
            lasts=CLAIMED_FOR,
        )
        for user, channel, device in whose
    )
    return [some for some in found if some]


async def _send(rows: list[Notification]) -> None:
    try:
        outgoing = await in_db(_prepare, rows)
        if outgoing is None:
            return
        result = await outgoing.channel.send(outgoing.user, outgoing.device, outgoing.message)
    except Exception:  # the edge of a task: one bad message must not hold up the others
        logger.exception("notification.crashed ids=%s", [row.pk for row in rows])
        result = Result("The server failed while it sent this. The error was logged.")
    logger.info(
        "notification.sent ids=%s channel=%s user=%s problem=%s",
        [row.pk for row in rows],
        rows[0].channel,
        rows[0].user_id,
        result.problem,
    )
    await in_db(_settle, rows, result)


def _prepare(rows: list[Notification]) -> _Outgoing | None:
    """Decide by what is so now. Returns: None where nothing is sent, or not yet."""
    user, channel = rows[0].user, channel_of(rows[0].channel)
    if user is None:
        address(rows[0])
        return None
    if channel is None or channel.unavailable(user):
        _drop(rows)
        return None
    choices = Choices.of(user)
    until = choices.held_until(is_daily=False, now=timezone.now())
    if until is not None:
        for row in rows:
            _mine(row).update(next_at=until, is_held=True, attempts=0)
        return None
    kinds = choice_for(choices, channel).kinds
    wanted = [row for row in rows if NotificationKind(row.kind) in kinds]
    message = compose(wanted, user, channel) if user.is_active else None
    if message is None:
        _drop(rows)
        return None
    return _Outgoing(channel, user, rows[0].device, message)


def _settle(rows: list[Notification], result: Result) -> None:
    if not result.problem:
        _drop(rows)
        return
    for row in rows:
        problem = result.problem[:300]
        if result.is_final or row.attempts > len(BACKOFF_S):
            _mine(row).update(state=_State.FAILED, problem=problem)
            continue
        wait = timedelta(seconds=max(result.wait_s, BACKOFF_S[row.attempts - 1]))
        _mine(row).update(next_at=timezone.now() + wait, problem=problem)


def _drop(rows: list[Notification]) -> None:
    for row in rows:
        _mine(row).delete()


def _mine(row: Notification) -> QuerySet[Notification]:
    """Returns: the row, unless another worker has begun it anew meanwhile."""
    return Notification.objects.filter(pk=row.pk, attempts=row.attempts)
