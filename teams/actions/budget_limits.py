"""Set and remove single budgets, of a team and of the whole server."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, is_operator, require_role
from teams.actions.budgets import lock_teams, note_change
from teams.audit import AuditAction, record
from teams.budgets import Limit, Scope
from teams.models import Budget, Role, Team, User


@transaction.atomic
def put_limit(
    access: TeamAccess, limit: Limit, *, amount: Decimal, ip: str | None = None
) -> Budget:
    """Set a budget of a team, or change its amount. `limit.project` must be one of the team.

    Raises: Forbidden unless the role includes billing; Invalid for a budget that names too much or
    too little, or somebody who is not in the team.
    """
    require_role(access, Role.BILLING)
    if limit.scope == Scope.INSTANCE:
        raise Invalid(_("A budget of this server is not a team's. Operators set it."))
    _require_whose(access.team, limit)
    (team,) = lock_teams(access.team.pk)
    row = _put(team, limit, amount, actor=access.user, ip=ip)
    note_change(team)
    access.team.has_budgets = team.has_budgets
    return row


@transaction.atomic
def remove_limit(access: TeamAccess, budget_id: int, *, ip: str | None = None) -> None:
    """Remove a budget of a team.

    Raises: Forbidden unless the role includes billing; NotFound when the team has none with the id.
    """
    require_role(access, Role.BILLING)
    (team,) = lock_teams(access.team.pk)
    _remove(Budget.objects.filter(team=team, pk=budget_id), team, access.user, ip)
    note_change(team)
    access.team.has_budgets = team.has_budgets


@transaction.atomic
def put_instance_limit(
    operator: User, limit: Limit, *, amount: Decimal, ip: str | None = None
) -> Budget:
    """Set a budget of the whole server. From now on the calls of all teams are held to it.

    Raises: Forbidden for who is no operator.
    """
    _require_operator(operator)
    teams = lock_teams(None)
    row = _put(None, limit, amount, actor=operator, ip=ip)
    note_change(*teams)
    return row


@transaction.atomic
def remove_instance_limit(operator: User, budget_id: int, *, ip: str | None = None) -> None:
    """Remove a budget of the whole server.

    Raises: Forbidden for who is no operator; NotFound when there is none with the id.
    """
    _require_operator(operator)
    teams = lock_teams(None)
    _remove(Budget.objects.filter(team=None, pk=budget_id), None, operator, ip)
    note_change(*teams)


def _require_operator(user: User) -> None:
    if not is_operator(user):
        raise Forbidden(_("Only operators can change the budgets of this server."))


def _require_whose(team: Team, limit: Limit) -> None:
    if (limit.user_id is not None) != (limit.scope == Scope.MEMBER):
        raise Invalid(_("Name a member for the budget of a member, and only there."))
    if bool(limit.project) != (limit.scope == Scope.PROJECT):
        raise Invalid(_("Name a project for the budget of a project, and only there."))
    if bool(limit.model) != (limit.scope == Scope.MODEL):
        raise Invalid(_("Name a model for the budget of a model, and only there."))
    if limit.model and "/" not in limit.model:
        raise Invalid(_("Name a model as provider/model, such as anthropic/*."))
    if limit.user_id is not None and not team.memberships.filter(user=limit.user_id).exists():
        raise Invalid(_("Not a member of this team."))


def _put(
    team: Team | None, limit: Limit, amount: Decimal, *, actor: User, ip: str | None
) -> Budget:
    found = Budget.objects.select_for_update().filter(team=team, **limit.columns()).first()
    if found is None:
        found = Budget(team=team, amount=amount, **limit.columns())
        before, is_other = None, True
    else:
        before = found.amount
        warn = limit.warn_percent or found.warn_percent
        is_other = (before, found.warn_percent) != (amount, warn)
    found.amount = amount
    found.warn_percent = limit.warn_percent or found.warn_percent
    if is_other:
        found.save()
        _record(found, team, before=before, after=amount, actor=actor, ip=ip)
    return found


def _remove(rows: QuerySet[Budget], team: Team | None, actor: User, ip: str | None) -> None:
    found = rows.select_for_update().first()
    if found is None:
        raise NotFound("Budget")
    _record(found, team, before=found.amount, after=None, actor=actor, ip=ip)
    found.delete()


def _record(
    row: Budget,
    team: Team | None,
    *,
    before: Decimal | None,
    after: Decimal | None,
    actor: User,
    ip: str | None,
) -> None:
    change: JsonObject = {
        "scope": row.scope,
        **({"user": row.user_id} if row.user_id is not None else {}),
        **({"project": row.project} if row.project else {}),
        **({"model": row.model} if row.model else {}),
        "period": row.period,
        "soft": row.is_soft,
        "before": None if before is None else str(before),
        "after": None if after is None else str(after),
        "warn_percent": row.warn_percent,
    }
    action = AuditAction.BUDGETS_CHANGED
    record(action, actor=actor, team=team, target=team, data={"changes": [change]}, ip=ip)
