"""Before each provider turn: whether its cost is still within what people have agreed to.

When it is not, the session is suspended with a request, like a tool call that needs permission.
"""

from __future__ import annotations

from opencode_web.lib.compiled import CompiledQuery
from sessions.config.cost_limit import PERMISSION, CostLimit, find_overrun
from sessions.events.store import append
from sessions.events.types import PermissionAsked, PermissionReplied
from sessions.models import ChangeKind, PermissionRequest, Session
from sessions.runner.drain.endings import decline, suspend
from sessions.runner.log.deadlines import new_request
from sessions.runner.log.history import Answer, Prompted
from sessions.runner.log.lease import Lease

Status = PermissionRequest.Status

_NEWEST = CompiledQuery(
    lambda session_id: PermissionRequest.objects.filter(
        session=session_id, permission=PERMISSION
    ).order_by("-created_at", "-pk")[:1],
    str,
)


def is_affordable(session: Session, lease: Lease, prompt: Prompted, answer: Answer | None) -> bool:
    """Let the next provider turn of a locked session be made, or end the drain.

    Then the session waits for an answer, or the answer was no. `answer` is the newest message, or
    the prompt is.
    """
    newest_id = answer.info.id if answer is not None else prompt.info.id
    overrun = find_overrun(session)
    asked = _NEWEST.first(session.pk)
    if overrun is None:
        if asked is not None and asked.status == Status.PENDING:
            # Somebody has allowed more in another session of the tree, or in the settings.
            append(session, [PermissionReplied(id=asked.pk, reply="once")])
        return True
    if asked is None or (asked.message_id != newest_id and asked.status != Status.PENDING):
        append(session, [_ask(session, overrun, prompt, newest_id)])
    elif asked.status in (Status.REJECT, Status.EXPIRED, Status.CANCELLED):
        decline(session, lease, asked)
        return False
    elif asked.status != Status.PENDING:
        append(session, [_ask(session, overrun, prompt, newest_id)])
    suspend(session, lease, on="budget")
    return False


def _ask(session: Session, overrun: CostLimit, prompt: Prompted, newest_id: str) -> PermissionAsked:
    return new_request(
        session,
        message_id=newest_id,
        call_id="",
        agent=prompt.info.agent,
        permission=PERMISSION,
        patterns=["*"],
        always=[],
        metadata=overrun.to_json(),
        # More than the limit is what a second person approves where that is wanted of budgets.
        second_person=ChangeKind.BUDGETS in session.project.team.needs_approval or None,
    )
