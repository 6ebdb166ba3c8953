from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction

from opencode_web.lib.json import JsonObject
from sessions.actions.budget_limits import wake_waiting
from sessions.actions.held_budgets import hold_budgets
from sessions.actions.settings import apply_patch
from sessions.config.cost_limit import team_session_cost
from sessions.config.model import parse_settings
from teams.access import TeamAccess, require_role
from teams.actions.budgets import change_budgets
from teams.audit import AuditAction, record
from teams.models import Role, Team


@transaction.atomic
def set_budgets(
    access: TeamAccess,
    *,
    team: Decimal | None,
    each: Decimal | None,
    members: Mapping[int, Decimal | None],
    session: Decimal | None,
    allows_unpriced: bool | None = None,
    warn_percent: int | None = None,
    ip: str | None = None,
) -> bool:
    """Like `change_budgets`, and have every session look again that waits for one.

    `session` is what each may cost before an admin is asked: a setting of the team, no budget.
    Raises: also NeedsApproval where one becomes looser.
    """
    require_role(access, Role.BILLING)
    hold_budgets(
        access,
        team=team,
        each=each,
        members=members,
        session=session,
        allows_unpriced=allows_unpriced,
        warn_percent=warn_percent,
    )
    limited = _limit_sessions(access, session, ip=ip)
    changed = change_budgets(
        access,
        team=team,
        each=each,
        members=members,
        allows_unpriced=allows_unpriced,
        warn_percent=warn_percent,
        ip=ip,
    )
    if changed:
        wake_waiting(access.team)
    return changed or limited


def _limit_sessions(access: TeamAccess, amount: Decimal | None, *, ip: str | None) -> bool:
    # As `change_budgets`, which comes after it in the same transaction.
    team = Team.objects.select_for_update(no_key=True).get(pk=access.team.pk)
    before = team_session_cost(team)
    if before == amount:
        return False
    limit = None if amount is None else str(amount)
    patch: JsonObject = {"limits": {"session_cost": limit}}
    if limit is not None:
        parse_settings(patch)
    team.config = apply_patch(team.config, patch)
    team.save(update_fields=["config"])
    access.team.config = team.config
    old = None if before is None else str(before)
    record(
        AuditAction.BUDGETS_CHANGED,
        actor=access.user,
        team=team,
        target=team,
        data={"changes": [{"scope": "session", "before": old, "after": limit}]},
        ip=ip,
    )
    return True
