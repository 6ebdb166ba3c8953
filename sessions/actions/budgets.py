from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction

from sessions.models import Session, WaitsFor
from sessions.wake import wake
from teams.access import TeamAccess
from teams.actions.budgets import change_budgets


@transaction.atomic
def set_budgets(
    access: TeamAccess,
    *,
    team: Decimal | None,
    each: Decimal | None,
    members: Mapping[int, Decimal | None],
    ip: str | None = None,
) -> bool:
    """Like `change_budgets`, and have every session look again that waits for one."""
    changed = change_budgets(access, team=team, each=each, members=members, ip=ip)
    if changed:
        waiting = Session.objects.filter(project__team=access.team, waits_for=WaitsFor.FUNDS)
        for session in waiting.select_related("project"):
            wake(session.pk, session.project)
    return changed
