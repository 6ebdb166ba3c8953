"""Several pushes while a prompt about one still waits are one prompt, about the newest."""

from __future__ import annotations

from django.db.models import F
from django.utils import timezone

from opencode_web.lib.errors import Conflict, Forbidden
from sessions.access import SessionAccess
from sessions.actions.inbox import cancel_input
from sessions.forges.triggers import Trigger
from sessions.integrations.start import Start
from sessions.models import InboundDelivery, OutsideReply, SessionInput


def withdraw_waiting(access: SessionAccess, row: InboundDelivery, start: Start | None) -> list[str]:
    """Take back what waits in a session about an earlier push to its pull request.

    Returns: the prompts that were taken back.
    """
    if start is None or start.rule.trigger != Trigger.PULL_PUSHED:
        return []
    earlier = row.integration.deliveries.filter(rule=start.rule, thread=row.thread)
    waiting = access.session.inputs.filter(
        pk__in=earlier.values("prompt_id"), status=SessionInput.Status.ADMITTED
    )
    return [pk for pk in waiting.values_list("pk", flat=True) if _is_withdrawn(access, pk)]


def _is_withdrawn(access: SessionAccess, prompt_id: str) -> bool:
    try:
        cancel_input(access, prompt_id)
    except (Conflict, Forbidden):
        # Its turn has begun, or it is somebody else's.
        return False
    return True


def hand_over_reply(withdrawn: list[str], prompt_id: str) -> bool:
    """Have the comment of a prompt that was taken back tell of another one.

    Returns: False where there is none.
    """
    comments = OutsideReply.objects.filter(kind=OutsideReply.Kind.COMMENT)
    first = comments.filter(prompt_id__in=withdrawn).order_by("pk").first()
    if first is None:
        return False
    now, pending = timezone.now(), OutsideReply.State.PENDING
    OutsideReply.objects.filter(pk=first.pk).update(
        prompt_id=prompt_id, state=pending, revision=F("revision") + 1, next_at=now
    )
    return True
