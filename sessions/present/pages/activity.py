"""Since when nothing has come of a session that runs, for a page that has not seen it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from sessions.models import Part, Session, State
from sessions.processes import living_processes
from sessions.runner.log.pulse import GREW_S

_GREW = timedelta(seconds=GREW_S)
_TEXTS = frozenset({"text", "reasoning"})


def silent_since(session: Session) -> datetime | None:
    """When the newest sign of life of a running session came; None when it may be writing now.

    For a text that has stopped in its middle it is as long ago as is certain. No query while its
    newest event is new, else two.
    """
    now = timezone.now()
    if session.state != State.BUSY or session.active_at > now - _GREW:
        return None
    grown = living_processes().exclude(growing=[]).values_list("growing", flat=True)
    if any(session.pk in sessions for sessions in grown):
        return None
    newest = Part.objects.filter(session=session).order_by("-seq").first()
    return now - _GREW if newest is not None and _is_open(newest) else session.active_at


def _is_open(part: Part) -> bool:
    time = part.data.get("time")
    return part.type in _TEXTS and isinstance(time, dict) and "end" not in time
