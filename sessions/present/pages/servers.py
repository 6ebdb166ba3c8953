"""The language servers of a session, for the facts about it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from sessions.config.effective import session_config
from sessions.language_servers.rows import present_servers
from sessions.models import LanguageServer, Session


@dataclass(frozen=True)
class Server:
    name: str
    root: str
    state: str


@dataclass(frozen=True)
class Servers:
    rows: list[Server]


def load_servers(session: Session) -> Servers | None:
    """Returns: None where language servers are switched off. Else one query."""
    if session_config(session).lsp is None:
        return None
    rows = present_servers(Session.objects.filter(pk=session.pk)).order_by("name", "root")
    return Servers([Server(row.name, row.root, _state(row)) for row in rows])


def _state(row: LanguageServer) -> str:
    if row.status == LanguageServer.Status.CONNECTED:
        return "running"
    return _("failed: %(reason)s") % {"reason": row.reason} if row.reason else _("failed")
