"""Whether another process can take up what this one leaves alone."""

from __future__ import annotations

from sessions.models import ServerProcess, Session
from sessions.processes import living_processes, process_name
from sessions.wake import wake_again


def ring_others(session_id: str) -> None:
    """Pass a ring on while this process drains. Where it is alone, the beat rings until it is not.

    It may come back to this process; it does not go round for long, for the others hear it, too.
    """
    session = Session.objects.select_related("project").filter(pk=session_id).first()
    if session is None:
        return
    others = living_processes().filter(host=session.project.host, drain_since=None)
    others = others.exclude(kind=ServerProcess.Kind.WEB).exclude(pk=process_name())
    if others.exists():
        wake_again(session.pk, session.project)
