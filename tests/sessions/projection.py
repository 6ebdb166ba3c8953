from __future__ import annotations

from typing import Any

from sessions.events.replay import rebuild
from sessions.models import (
    ContextEpoch,
    Message,
    Part,
    PermissionRequest,
    QuestionRequest,
    Session,
    SessionInput,
)

_MODELS = (Message, Part, SessionInput, PermissionRequest, QuestionRequest, ContextEpoch)


def _rows(session_id: str) -> dict[str, Any]:
    rows: dict[str, Any] = {
        model.__name__: list(model.objects.filter(session=session_id).order_by("pk").values())
        for model in _MODELS
    }
    rows["Session"] = Session.objects.filter(pk=session_id).values().get()
    return rows


def assert_log_equals_rows(session: Session) -> None:
    before = _rows(session.pk)
    rebuild(session.pk)
    assert _rows(session.pk) == before
