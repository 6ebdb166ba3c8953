from __future__ import annotations

from pathlib import Path

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.text import clean_text
from sessions.events.live import publish_servers
from sessions.models import LanguageServer, Session
from tools.lsp.pool import ServerState, Status

_MAX_CHARS = 400


@transaction.atomic
def note_server(session_id: str, state: ServerState) -> bool:
    """Write down what became of a language server of a session, and tell the clients.

    Nothing of it is in the log: it is about a process and not about the conversation.

    Returns: whether the session is still there.
    """
    session = Session.objects.select_related("project__team").filter(pk=session_id).first()
    if session is None:
        return False
    rows = LanguageServer.objects.filter(session=session)
    key = {"name": state.id[:80], "root": _below(session, state.root)}
    before = rows.filter(**key).values_list("status", flat=True).first()
    if state.status is Status.GONE:
        rows.filter(**key).delete()
    else:
        rows.update_or_create(
            session=session,
            name=key["name"],
            root=key["root"],
            defaults={
                "status": state.status.value,
                "reason": clean_text(state.reason)[:_MAX_CHARS],
                "seen_at": timezone.now(),
            },
        )
    if before != state.status.value:
        transaction.on_commit(lambda: publish_servers(session))
    return True


def _below(session: Session, root: Path) -> str:
    folder = Path(session.worktree).resolve()
    below = root.relative_to(folder).as_posix() if root.is_relative_to(folder) else str(root)
    return "" if below == "." else clean_text(below)[:_MAX_CHARS]
