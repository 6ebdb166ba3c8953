"""What answers on a forge beside the comments: reviews, checks, branches and pull requests.

Each is a row of the same outbox as the comments, is written once, and tried again as they are.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.deliveries import BATCH, claim_due, work_through
from sessions.forges.adapter import Forge, ForgeError, Pull
from sessions.integrations.checks import show_check
from sessions.integrations.publish import publish
from sessions.integrations.replies import CLAIMED_FOR, MOVED, give_up, put_off, settle
from sessions.integrations.reviews import post_review
from sessions.integrations.steps import Step
from sessions.integrations.systems import place_of, project_forge, system_of
from sessions.models import Integration, OutsideReply

logger = logging.getLogger(__name__)

_Kind = OutsideReply.Kind
_WRITERS: dict[str, Callable[[OutsideReply, Forge], Awaitable[Step]]] = {
    _Kind.REVIEW: post_review,
    _Kind.CHECK: show_check,
    _Kind.PULL: publish,
}


def begin_answers(
    integration: Integration,
    access: SessionAccess,
    *,
    prompt_id: str,
    place: str,
    thread: str,
    pull: Pull | None,
    name: str,
) -> None:
    """Have a prompt answered by what the project has switched on, beside the comment.

    `name` is what people call the thread.
    """
    now = timezone.now()
    wanted: dict[OutsideReply.Kind, JsonObject] = {}
    if integration.checks and pull is not None and pull.head:
        wanted[_Kind.CHECK] = {"commit": pull.head}
    if integration.pulls and not access.session.is_read_only:
        wanted[_Kind.PULL] = {"closes": name}
    OutsideReply.objects.bulk_create(
        OutsideReply(
            id=new_id("rep"),
            integration=integration,
            kind=kind,
            data=data,
            place=place,
            thread=thread,
            session=access.session,
            prompt_id=prompt_id,
            next_at=now,
            created_at=now,
        )
        for kind, data in wanted.items()
    )


async def send_answers() -> int:
    """Write what is due. Returns: how many were tried."""
    return await work_through(_claim, _send)


def _claim() -> list[OutsideReply]:
    due = OutsideReply.objects.filter(state=OutsideReply.State.PENDING, kind__in=_WRITERS)
    due = due.select_related("integration__project__team", "session__project__team").order_by("pk")
    return claim_due(due, BATCH, lasts=CLAIMED_FOR)


async def _send(row: OutsideReply) -> None:
    try:
        system = await in_db(system_of, row.integration)
        if place_of(system) != row.place:
            await in_db(give_up, row, MOVED)
            return
        forge = await in_db(project_forge, row.integration.project, system)
        step = await _WRITERS[row.kind](row, forge)
    except ForgeError as exc:
        await in_db(put_off, row, exc.told, exc.wait_s)
    except AppError as exc:
        await in_db(put_off, row, exc.told, 0)
    except Exception:  # the edge of a task: one bad answer must not hold up the others
        logger.exception("integration.crashed answer=%s", row.pk)
        await in_db(put_off, row, "The server failed while it wrote this. The error was logged.", 0)
    else:
        await in_db(_settle, row, step)


def _settle(row: OutsideReply, step: Step) -> None:
    if not step.again_s:
        settle(row, is_last=step.is_last)
        return
    OutsideReply.objects.filter(pk=row.pk, attempts=row.attempts).update(
        attempts=0,
        problem="",
        cause={},
        next_at=timezone.now() + timedelta(seconds=step.again_s),
    )
