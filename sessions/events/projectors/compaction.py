from __future__ import annotations

from datetime import datetime

from sessions.events.compaction import SessionCompacted
from sessions.events.projectors.rows import Rows
from sessions.models import Compaction


def project_compacted(rows: Rows, event: SessionCompacted, seq: int, time: datetime) -> None:
    rows.put_compaction(
        Compaction(
            session=rows.session,
            message_id=event.message_id,
            summary_id=event.summary_id,
            seq=rows.seq_of_message(event.message_id),
            history_from=event.history_from,
            tokens_before=event.before,
            tokens_after=event.after,
            in_vain=event.in_vain,
        )
    )
    rows.session.context_tokens = event.after
