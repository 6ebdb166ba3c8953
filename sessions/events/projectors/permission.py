from __future__ import annotations

from datetime import datetime

from sessions.events.projectors.rows import Rows, from_ms
from sessions.events.types import PermissionAsked, PermissionReplied
from sessions.models import PermissionRequest


def project_asked(rows: Rows, event: PermissionAsked, seq: int, time: datetime) -> None:
    PermissionRequest.objects.create(
        session=rows.session,
        created_at=time,
        expires_at=from_ms(event.until),
        source=event.source or "",
        second_person=bool(event.second_person),
        **event.model_dump(exclude={"type", "until", "source", "second_person"}),
    )


def project_replied(rows: Rows, event: PermissionReplied, seq: int, time: datetime) -> None:
    PermissionRequest.objects.filter(session=rows.session, pk=event.id).update(
        status=event.reply,
        feedback=event.feedback,
        replied_by=event.by_id,
        replied_at=time,
    )
