from __future__ import annotations

from datetime import datetime

from opencode_web.lib.compiled import CompiledInsert, CompiledUpdate
from sessions.events.inbox import (
    InputAdmitted,
    InputCancelled,
    InputChanged,
    InputPromoted,
    InputsReordered,
)
from sessions.events.projectors.rows import Rows
from sessions.models import SessionInput

Status = SessionInput.Status
_INPUTS = CompiledInsert(SessionInput)
_PROMOTE = CompiledUpdate(
    lambda session_id, input_id, seq: SessionInput.objects.filter(session=session_id, pk=input_id),
    lambda session_id, input_id, seq: {"status": Status.PROMOTED, "promoted_seq": seq},
    str,
    str,
    int,
)


def project_admitted(rows: Rows, event: InputAdmitted, seq: int, time: datetime) -> None:
    row = SessionInput(
        id=event.info.id,
        session=rows.session,
        author_id=event.author_id,
        delivery=event.delivery,
        data={"info": event.info.to_json(), "parts": [part.to_json() for part in event.parts]},
        admitted_seq=seq,
        position=seq,
        created_at=time,
    )
    _INPUTS.write([row])


def project_promoted(rows: Rows, event: InputPromoted, seq: int, time: datetime) -> None:
    _PROMOTE.write(rows.session.pk, event.id, seq)
    rows.session.file_reverts = []
    rows.session.turn_steps = 0


def project_changed(rows: Rows, event: InputChanged, seq: int, time: datetime) -> None:
    row = SessionInput.objects.get(session=rows.session, pk=event.id)
    row.revision += 1
    if event.delivery is not None:
        row.delivery = event.delivery
    if event.parts is not None:
        row.data = {**row.data, "parts": [part.to_json() for part in event.parts]}
        row.edited_by_id = None if event.by_id == row.author_id else event.by_id
    row.save(update_fields=["revision", "delivery", "data", "edited_by"])


def project_reordered(rows: Rows, event: InputsReordered, seq: int, time: datetime) -> None:
    """The inputs share out the places they have, so a prompt that comes later stays behind."""
    known = SessionInput.objects.filter(session=rows.session).in_bulk(event.ids)
    ordered = [known[id_] for id_ in event.ids]
    places = sorted(row.position for row in ordered)
    for row, place in zip(ordered, places, strict=True):
        row.position = place
    SessionInput.objects.bulk_update(ordered, ["position"])


def project_cancelled(rows: Rows, event: InputCancelled, seq: int, time: datetime) -> None:
    SessionInput.objects.filter(session=rows.session, pk=event.id).update(status=Status.CANCELLED)
