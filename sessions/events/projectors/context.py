from __future__ import annotations

from datetime import datetime

from opencode_web.lib.compiled import CompiledInsert, CompiledQuery
from sessions.events.context import ContextUpdated, EpochEnded, EpochStarted
from sessions.events.projectors.rows import Rows
from sessions.models import ContextEpoch

_EPOCH = CompiledQuery(lambda session_id: ContextEpoch.objects.filter(session=session_id), str)
_EPOCHS = CompiledInsert(
    ContextEpoch,
    replace=["revision", "ended", "baseline", "snapshot", "updates", "baseline_seq"],
)


def find_epoch(session_id: str) -> ContextEpoch | None:
    """Returns: the newest epoch of a session, also one that has ended."""
    return _EPOCH.first(session_id)


def project_started(rows: Rows, event: EpochStarted, seq: int, time: datetime) -> None:
    """Earlier messages in mid-conversation leave with their epoch."""
    earlier = find_epoch(rows.session.pk)
    epoch = ContextEpoch(
        session=rows.session,
        revision=(earlier.revision if earlier else 0) + 1,
        baseline=event.baseline,
        snapshot=event.snapshot,
        baseline_seq=seq,
    )
    _EPOCHS.write([epoch])


def project_updated(rows: Rows, event: ContextUpdated, seq: int, time: datetime) -> None:
    epoch = ContextEpoch.objects.get(session=rows.session)
    kept = {key: value for key, value in epoch.snapshot.items() if key not in event.removed}
    epoch.snapshot = {**kept, **event.changed}
    epoch.updates = [*epoch.updates, {"id": event.id, "seq": seq, "text": event.text}]
    epoch.save(update_fields=["snapshot", "updates"])


def project_ended(rows: Rows, event: EpochEnded, seq: int, time: datetime) -> None:
    ContextEpoch.objects.filter(session=rows.session).update(ended=event.reason)
