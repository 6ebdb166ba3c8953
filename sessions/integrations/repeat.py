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
def repeat_delivery(access: TeamAccess, row: Integration, delivery_id: str) -> None:
    """Handle a failed delivery again. Raises: NotFound for any other; Forbidden below admin."""
    failed = row.deliveries.filter(pk=delivery_id, state=InboundDelivery.State.FAILED)
    _again(access, row, failed.update(state=InboundDelivery.State.WAITING, **_due()), delivery_id)


@transaction.atomic
def repeat_reply(access: TeamAccess, row: Integration, reply_id: str) -> None:
    """Write a reply that was given up. Raises: as `repeat_delivery`."""
    failed = row.replies.filter(pk=reply_id, state=OutsideReply.State.FAILED)
    _again(access, row, failed.update(state=OutsideReply.State.PENDING, **_due()), reply_id)


def _due() -> dict[str, object]:
    return {"attempts": 0, "next_at": timezone.now()}


def _again(access: TeamAccess, row: Integration, found: int, name: str) -> None:
    require_role(access, Role.ADMIN)
    if not found:
        raise NotFound("Delivery", name)
    record(
        AuditAction.INTEGRATION_REPEATED,
        actor=access.user,
        team=access.team,
        target=row.project or access.team,
        data={"name": row.project.name if row.project_id else row.slack.name, "delivery": name},
    )
