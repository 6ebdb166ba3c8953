"""Remove what is older than a team keeps, a little at a time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from django.db import transaction

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject
from sessions.actions.audit_streams import sent_until
from sessions.actions.sessions import remove_tree
from sessions.events.store import SessionGone, lock_session
from sessions.retention.due import due_entries, due_sessions
from teams.actions.audit import BrokenChain, prune_entries
from teams.audit import AuditAction, record
from teams.audit_chain.verify import chains
from teams.models import SERVER_CHAIN, Team
from teams.retention.days import all_days_in_force, cut_at, server_limit

logger = logging.getLogger(__name__)

_BATCH = 50
# Of one run of the beat: others need the worker, too.
RUN_S = 60.0


@dataclass
class Expired:
    """How much a run has removed."""

    sessions: int = 0
    entries: int = 0


def apply_retention(*, run_s: float = RUN_S) -> Expired:
    """Remove old sessions and audit entries, for so long. What is left goes with the next run."""
    until, done = time.monotonic() + run_s, Expired()
    days = all_days_in_force()
    for team in Team.objects.filter(pk__in=[pk for pk, one in days.items() if one.sessions]):
        own = days[team.pk].sessions
        assert own is not None
        due = due_sessions(team, own).order_by("active_at", "pk")
        for session_id in list(due.values_list("pk", flat=True)[:_BATCH]):
            if time.monotonic() > until:
                break
            done.sessions += _expire(team, session_id, own)
    limit = server_limit().audit
    for chain in chains():
        if time.monotonic() > until:
            break
        # Of deleted teams, and of the server, the operators say how long.
        own = days[chain].audit if chain in days else limit
        done.entries += _prune(chain, own) if own else 0
    if done.sessions or done.entries:
        logger.info("retention.ended sessions=%d entries=%d", done.sessions, done.entries)
    return done


def _expire(team: Team, session_id: str, days: int) -> bool:
    """Returns: whether it is gone. One that is in use again, or held, stays."""
    try:
        with transaction.atomic():
            session = lock_session(session_id)
            if not due_sessions(team, days).filter(pk=session_id).exists():
                return False
            data: JsonObject = {"days": days, "until": session.active_at.isoformat()}
            record(AuditAction.SESSION_EXPIRED, actor=None, team=team, target=session, data=data)
            remove_tree(session)
    except (Conflict, SessionGone) as exc:
        logger.warning("retention.kept session=%s %s", session_id, exc)
        return False
    return True


def _prune(chain: str, days: int) -> int:
    team_id = None if chain == SERVER_CHAIN else chain
    last = due_entries(team_id, days).order_by("-seq").values_list("seq", flat=True).first()
    if last is None:
        return 0
    sent = sent_until(chain)
    try:
        until = last if sent is None else min(last, sent)
        # One checkpoint a day, and not one for every run that finds another old entry.
        if not due_entries(team_id, days + 1).filter(seq__lte=until).exists():
            return 0
        return prune_entries(chain, before=cut_at(days), until=until)
    except BrokenChain as exc:
        logger.error("retention.audit_kept chain=%s problem=%s", chain, exc)
        return 0
