"""What answers beside the comments: reactions, reviews, checks, branches and pull requests.

Each is a row of the same outbox as the comments, is written once, and tried again as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.deliveries import BATCH, claim_due, work_through
from sessions.forges.adapter import Forge, Pull
from sessions.integrations.checks import show_check
from sessions.integrations.publish import publish
from sessions.integrations.reactions import show_reaction
from sessions.integrations.replies import CLAIMED_FOR, write_reply
from sessions.integrations.reviews import post_review
from sessions.integrations.steps import Step, begin_reply
from sessions.integrations.system import System
from sessions.integrations.systems import project_forge
from sessions.models import Integration, OutsideReply

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
    to: str,
) -> None:
    """Have a prompt answered by what the project has switched on, beside the comment.

    `name` is what people call the thread, and `to` what gets a reaction, or empty.
    """
    wanted: dict[OutsideReply.Kind, JsonObject] = {}
    if integration.checks and pull is not None and pull.head:
        wanted[_Kind.CHECK] = {"commit": pull.head}
    if integration.pulls and not access.session.is_read_only:
        wanted[_Kind.PULL] = {"closes": name}
    if to:
        wanted[_Kind.REACTION] = {}
    for kind, data in wanted.items():
        begin_reply(
            integration=integration,
            kind=kind,
            data=data,
            place=place,
            thread=thread,
            session=access.session,
            prompt_id=prompt_id,
            to=to if kind == _Kind.REACTION else "",
        )


async def send_answers() -> int:
    """Write what is due. Returns: how many were tried."""
    return await work_through(_claim, _send)


def _claim() -> list[OutsideReply]:
    kinds = (*_WRITERS, _Kind.REACTION)
    due = OutsideReply.objects.filter(state=OutsideReply.State.PENDING, kind__in=kinds)
    due = due.select_related("integration__project__team", "session__project__team").order_by("pk")
    return claim_due(due, BATCH, lasts=CLAIMED_FOR)


async def _send(row: OutsideReply) -> None:
    await write_reply(row, _write)


async def _write(row: OutsideReply, system: System) -> Step:
    """Raises: ForgeError; AppError."""
    if row.kind == _Kind.REACTION:
        return await show_reaction(row, system)
    forge = await in_db(project_forge, row.integration.project, system)
    return await _WRITERS[row.kind](row, forge)
