"""Set single budgets and answer requests for more, and have sessions that wait look again."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from sessions.actions.held_budgets import hold_limit, limit_of, require_other
from sessions.models import Project, Session, WaitsFor
from sessions.wake import wake
from teams.access import TeamAccess, require_role
from teams.actions import budget_limits, budget_requests
from teams.budgets import Limit
from teams.models import Budget, BudgetRequest, Role, Team, User


def wake_waiting(team: Team | None) -> None:
    """Have every session of a team, or of all, look again that waits for a budget, on commit."""
    waiting = Session.objects.filter(waits_for=WaitsFor.FUNDS).select_related("project")
    if team is not None:
        waiting = waiting.filter(project__team=team)
    for row in waiting:
        wake(row.pk, row.project)


@transaction.atomic
def put_limit(
    access: TeamAccess, limit: Limit, *, amount: Decimal, ip: str | None = None
) -> Budget:
    """Like `teams`', for one of the team's projects.

    Raises: also Invalid for another's project; NeedsApproval where it becomes looser.
    """
    require_role(access, Role.BILLING)
    projects = Project.objects.filter(team=access.team)
    if limit.project and not projects.filter(pk=limit.project).exists():
        raise Invalid(_("Not a project of this team."))
    hold_limit(access, limit, amount)
    row = budget_limits.put_limit(access, limit, amount=amount, ip=ip)
    wake_waiting(access.team)
    return row


@transaction.atomic
def remove_limit(access: TeamAccess, budget_id: int, *, ip: str | None = None) -> None:
    """Like `teams`'. Raises: also NeedsApproval."""
    require_role(access, Role.BILLING)
    row = Budget.objects.filter(team=access.team, pk=budget_id).first()
    if row is not None:
        hold_limit(access, limit_of(row), None)
    budget_limits.remove_limit(access, budget_id, ip=ip)
    wake_waiting(access.team)


@transaction.atomic
def put_instance_limit(
    operator: User, limit: Limit, *, amount: Decimal, ip: str | None = None
) -> Budget:
    """Like `teams`'."""
    row = budget_limits.put_instance_limit(operator, limit, amount=amount, ip=ip)
    wake_waiting(None)
    return row


@transaction.atomic
def remove_instance_limit(operator: User, budget_id: int, *, ip: str | None = None) -> None:
    """Like `teams`'."""
    budget_limits.remove_instance_limit(operator, budget_id, ip=ip)
    wake_waiting(None)


@transaction.atomic
def answer_request(
    request: BudgetRequest,
    *,
    actor: User,
    grant: Decimal | None,
    answer: str = "",
    ip: str | None = None,
) -> BudgetRequest:
    """Like `teams`'. What was refused before goes on when enough was granted."""
    if grant is not None:
        require_other(request, actor)
    row = budget_requests.answer_request(request, actor=actor, grant=grant, answer=answer, ip=ip)
    if grant is not None:
        wake_waiting(row.team if row.budget.team_id else None)
    return row
