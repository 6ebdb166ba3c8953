"""What was given up, once more, as an admin asks for it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from sessions.models import InboundDelivery, Integration, OutsideReply
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role


@transaction.atomic
def repeat_failed(access: TeamAccess, row: Integration, failed_id: str) -> None:
    """Handle a delivery again that has failed, or write a reply that was given up.

    Raises: NotFound for any other; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    due = {"attempts": 0, "next_at": timezone.now()}
    deliveries = row.deliveries.filter(pk=failed_id, state=InboundDelivery.State.FAILED)
    replies = row.replies.filter(pk=failed_id, state=OutsideReply.State.FAILED)
    if not (
        deliveries.update(state=InboundDelivery.State.WAITING, **due)
        or replies.update(state=OutsideReply.State.PENDING, **due)
    ):
        raise NotFound("Delivery", failed_id)
    record(
        AuditAction.INTEGRATION_REPEATED,
        actor=access.user,
        team=access.team,
        target=row.project or access.team,
        data={
            "name": row.project.name if row.project_id else row.slack.name,
            "delivery": failed_id,
        },
    )
