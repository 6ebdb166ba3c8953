"""Which language servers run for sessions, as their workers last said."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from sessions.models import LanguageServer, Session
from tools.lsp.pool import BEAT_S

# Two beats and some more: a worker that was killed has told nobody of the end of its servers.
_FRESH = timedelta(seconds=2.5 * BEAT_S)


def present_servers(sessions: QuerySet[Session]) -> QuerySet[LanguageServer]:
    """Returns: the servers of these sessions that run, or failed a little while ago."""
    return LanguageServer.objects.filter(
        session__in=sessions.values("pk"), seen_at__gt=timezone.now() - _FRESH
    )
