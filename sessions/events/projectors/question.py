from __future__ import annotations

from datetime import datetime

from sessions.events.projectors.rows import Rows, from_ms
from sessions.events.questions import QuestionAsked, QuestionReplied
from sessions.models import QuestionRequest


def project_asked(rows: Rows, event: QuestionAsked, seq: int, time: datetime) -> None:
    QuestionRequest.objects.create(
        session=rows.session,
        created_at=time,
        expires_at=from_ms(event.until),
        **event.model_dump(exclude={"type", "until"}, exclude_none=True),
    )


def project_replied(rows: Rows, event: QuestionReplied, seq: int, time: datetime) -> None:
    QuestionRequest.objects.filter(session=rows.session, pk=event.id).update(
        status=event.reply, answers=event.answers, replied_by=event.by_id, replied_at=time
    )
