from __future__ import annotations

from datetime import datetime

from sessions.events.projectors.rows import Rows
from sessions.events.types import InputAdmitted, InputCancelled, InputPromoted
from sessions.models import SessionInput


def project_admitted(rows: Rows, event: InputAdmitted, seq: int, time: datetime) -> None:
    SessionInput.objects.create(
        id=event.info.id,
        session=rows.session,
        author_id=event.author_id,
        delivery=event.delivery,
        data={"info": event.info.to_json(), "parts": [part.to_json() for part in event.parts]},
        admitted_seq=seq,
        created_at=time,
    )


def _set_status(rows: Rows, input_id: str, status: SessionInput.Status) -> None:
    SessionInput.objects.filter(session=rows.session, pk=input_id).update(status=status)


def project_promoted(rows: Rows, event: InputPromoted, seq: int, time: datetime) -> None:
    _set_status(rows, event.id, SessionInput.Status.PROMOTED)


def project_cancelled(rows: Rows, event: InputCancelled, seq: int, time: datetime) -> None:
    _set_status(rows, event.id, SessionInput.Status.CANCELLED)
