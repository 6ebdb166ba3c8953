"""The questions of a call: asked once, and found again when the call is run after the answer."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from opencode_web.lib.ids import new_id
from sessions.events.parts import ToolPart
from sessions.events.questions import QuestionAsked, QuestionInfo, QuestionOption
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated
from sessions.mcp.servers import SAMPLING
from sessions.models import PermissionRequest, QuestionRequest
from sessions.runner.calls.suspension import suspended
from sessions.runner.log.deadlines import deadline_ms
from sessions.runner.log.lease import Lease
from tools.base import QuestionDismissed
from tools.context import Question, Suspended

Outcome = list[list[str]] | QuestionDismissed | Suspended


@transaction.atomic
def ask_person(
    lease: Lease, part: ToolPart, questions: Sequence[Question], *, agent: str, number: int = 0
) -> Outcome:
    """The answers that a person gave to this call, or what the call ends with.

    `number` tells apart what one call asks one after the other, from 0.

    While it waits the call is marked as safe to run again: a lost worker costs nothing but a look
    at the row.

    Raises: NotFound when the session is gone; LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    row = _of_call(session.pk, part).order_by("created_at", "pk")[number : number + 1].first()
    if row is None:
        asked = _asked(part, questions, agent, until=deadline_ms(session))
        append(session, [PartUpdated(part=suspended(part)), asked])
        return Suspended(on="person")
    if row.status == QuestionRequest.Status.PENDING:
        return Suspended(on="person")
    if row.status == QuestionRequest.Status.ANSWERED:
        return [[str(text) for text in answer] for answer in row.answers]
    return QuestionDismissed()


def was_asked(session_id: str, part: ToolPart) -> bool:
    """Whether the call has waited for a person since it began."""
    of_call = {"session": session_id, "message_id": part.messageID, "call_id": part.callID}
    sampled = PermissionRequest.objects.filter(**of_call, permission=SAMPLING)
    return _of_call(session_id, part).exists() or sampled.exists()


def _of_call(session_id: str, part: ToolPart) -> QuerySet[QuestionRequest]:
    rows = QuestionRequest.objects.filter(session=session_id)
    return rows.filter(message_id=part.messageID, call_id=part.callID)


def _asked(
    part: ToolPart, questions: Sequence[Question], agent: str, *, until: int | None
) -> QuestionAsked:
    return QuestionAsked(
        id=new_id("que"),
        message_id=part.messageID,
        call_id=part.callID,
        agent=agent,
        until=until,
        questions=[
            QuestionInfo(
                question=one.question,
                header=one.header,
                options=[
                    QuestionOption(label=o.label, description=o.description) for o in one.options
                ],
                multiple=one.multiple or None,
            )
            for one in questions
        ],
    )
