"""That a budget is nearly or wholly spent, kept for whom it concerns until they put it away."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from teams.access import TeamAccess
from teams.budgets import WARN_PERCENT, Standing, month_start
from teams.models import Budget, BudgetNotice, Membership, MonthlySpend

REACHED_PERCENT = 100
# The id of a team, and for the budget of one member that of the member.
Whose = tuple[str, int | None]


def notices_of(access: TeamAccess) -> QuerySet[BudgetNotice]:
    """Returns: this month's that the person may see, the newest first.

    Who sees what others spend sees those of all; others that of their own budget.
    """
    rows = BudgetNotice.objects.filter(team=access.team, month=month_start().date())
    if not access.sees_spending:
        rows = rows.filter(user=access.user)
    return rows.select_related("user").order_by("-time", "-pk")


def unread_notices(access: TeamAccess) -> list[BudgetNotice]:
    """Returns: those that the person has not put away, of each budget the newest.

    No query where the team has no budget.
    """
    if not access.team.has_budgets:
        return []
    newest: dict[int | None, BudgetNotice] = {}
    for notice in notices_of(access).exclude(put_away_by=access.user):
        newest.setdefault(notice.user_id, notice)
    return list(newest.values())


def access_notice(access: TeamAccess, notice_id: int) -> BudgetNotice:
    """Raises: NotFound for one that the person may not see, or of another month."""
    notice = notices_of(access).filter(pk=notice_id).first()
    if notice is None:
        raise NotFound("Warning")
    return notice


def find_passed() -> list[BudgetNotice]:
    """Returns: what has passed a threshold this month and is not noted yet, of all teams; unsaved.

    A budget of nothing is none that somebody comes near to. Four queries.
    """
    limits = dict(_limits())
    teams = {team_id for team_id, _ in limits}
    month, now = month_start(), timezone.now()
    noted = set(
        BudgetNotice.objects.filter(team__in=teams, month=month.date()).values_list(
            "team_id", "user_id", "threshold"
        )
    )
    spent = _spent(teams)
    passed = []
    for (team_id, user_id), limit in limits.items():
        one = Standing(user_id is None, limit, spent.get((team_id, user_id), Decimal(0)))
        threshold = REACHED_PERCENT if one.is_reached else WARN_PERCENT
        if limit and one.is_near and (team_id, user_id, threshold) not in noted:
            passed.append(
                BudgetNotice(
                    team_id=team_id,
                    user_id=user_id,
                    month=month.date(),
                    threshold=threshold,
                    spent=one.spent,
                    limit=limit,
                    time=now,
                )
            )
    return passed


def _limits() -> Iterator[tuple[Whose, Decimal]]:
    """Yield what holds for whom, that of each member before those of single ones."""
    rows = list(Budget.objects.all())
    each = {one.team_id: one.amount for one in rows if one.scope == Budget.Scope.EACH}
    people = Membership.objects.filter(team__in={one.team_id for one in rows})
    members = set(people.values_list("team_id", "user_id"))
    for team_id, user_id in members:
        if team_id in each:
            yield (team_id, user_id), each[team_id]
    for one in rows:
        whose = (one.team_id, one.user_id)
        if one.scope == Budget.Scope.TEAM or whose in members:
            yield whose, one.amount


def _spent(teams: set[str]) -> dict[Whose, Decimal]:
    """Returns: USD of this month, of each person and below None of all together."""
    rows = MonthlySpend.objects.filter(team__in=teams, month=month_start().date())
    return {(row.team_id, row.user_id): row.cost for row in rows}
