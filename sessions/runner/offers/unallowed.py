"""What a call may not do without asking, where it leaves something out instead of asking."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.events.store import SessionGone
from sessions.models import Session
from sessions.rules.in_force import session_ruleset
from tools.permissions.rules import Action, evaluate


def withheld(session_id: str, agent: str, permission: str, patterns: Sequence[str]) -> list[str]:
    """Returns: the patterns that the rules do not allow. Raises: SessionGone."""
    rows = Session.objects.select_related("project__team")
    session = rows.filter(pk=session_id).first()
    if session is None:
        raise SessionGone(session_id)
    ruleset = session_ruleset(session, agent)
    return [
        pattern
        for pattern in patterns
        if evaluate(permission, pattern, ruleset) is not Action.ALLOW
    ]
