"""Requests for more of a budget: who sees which, and which budgets can be asked for."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from opencode_web.lib.errors import NotFound
from teams.access import TeamAccess, is_operator
from teams.budgets.standings import Scope, Standing, hard, load_standings
from teams.models import BudgetRequest, Period, User


def askable(access: TeamAccess, project_id: str = "") -> list[Standing]:
    """Returns: the budgets that hold for the person and can stop them, those at their end first."""
    found = hard(load_standings(access.team, access.user.pk, project_id, model=None))
    return sorted(found, key=lambda one: not one.is_reached)


def current_requests() -> QuerySet[BudgetRequest]:
    """Returns: those of the periods that are now, the oldest first."""
    now = Q()
    for period in Period:
        now |= Q(budget__period=period, start=period.first_day())
    rows = BudgetRequest.objects.filter(now).select_related("asker", "budget", "answered_by")
    return rows.order_by("created_at", "pk")


def own_requests(access: TeamAccess) -> QuerySet[BudgetRequest]:
    """Returns: what the person has asked for in a team and has not put away."""
    return current_requests().filter(team=access.team, asker=access.user, is_put_away=False)


def waiting_requests(access: TeamAccess) -> QuerySet[BudgetRequest]:
    """Returns: those of a team that the person can answer: none where they set no budgets."""
    rows = current_requests().filter(team=access.team, status=BudgetRequest.Status.PENDING)
    if not access.sees_spending:
        return rows.none()
    return rows.exclude(budget__scope=Scope.INSTANCE)


def instance_requests(user: User) -> QuerySet[BudgetRequest]:
    """Returns: those for more of the server's budgets, for operators."""
    rows = current_requests().filter(budget__scope=Scope.INSTANCE)
    rows = rows.filter(status=BudgetRequest.Status.PENDING).select_related("team")
    return rows if is_operator(user) else rows.none()


def access_request(access: TeamAccess, request_id: str) -> BudgetRequest:
    """Fetch one that the person has made or may answer. Raises: NotFound."""
    rows = current_requests().filter(pk=request_id, team=access.team)
    if not access.sees_spending:
        rows = rows.filter(asker=access.user)
    elif not is_operator(access.user):
        rows = rows.exclude(~Q(asker=access.user), budget__scope=Scope.INSTANCE)
    found = rows.first()
    if found is None:
        raise NotFound("Request", request_id)
    return found


def access_instance_request(user: User, request_id: str) -> BudgetRequest:
    """Fetch one for more of a budget of the server. Raises: NotFound, also for no operator."""
    rows = current_requests().filter(pk=request_id, budget__scope=Scope.INSTANCE)
    found = rows.first() if is_operator(user) else None
    if found is None:
        raise NotFound("Request", request_id)
    return found
