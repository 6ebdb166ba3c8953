"""That a budget is nearly or fully spent, kept for whom it concerns until they put it away."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from teams.access import TeamAccess
from teams.budgets.all_standings import load_all_standings
from teams.models import BudgetNotice, Period

REACHED_PERCENT = 100


def notices_of(access: TeamAccess) -> QuerySet[BudgetNotice]:
    """Returns: those of the periods that are now and that the person may see, the newest first.

    Who sees what others spend sees those of all; others that of their own budget.
    """
    rows = BudgetNotice.objects.filter(_is_current(), team=access.team)
    if not access.sees_spending:
        rows = rows.filter(user=access.user)
    return rows.select_related("user").order_by("-time", "-pk")


def unread_notices(access: TeamAccess) -> list[BudgetNotice]:
    """Returns: those that the person has not put away, of each budget the newest.

    No query where the team has no budget.
    """
    if not access.team.has_budgets:
        return []
    newest: dict[tuple[object, ...], BudgetNotice] = {}
    for notice in notices_of(access).exclude(put_away_by=access.user):
        newest.setdefault(_whose(notice), notice)
    return list(newest.values())


def access_notice(access: TeamAccess, notice_id: int) -> BudgetNotice:
    """Raises: NotFound for one that the person may not see, or of another period."""
    notice = notices_of(access).filter(pk=notice_id).first()
    if notice is None:
        raise NotFound("Warning")
    return notice


def instance_notices() -> QuerySet[BudgetNotice]:
    """Returns: those of the budgets of the whole server, of the periods that are now."""
    return BudgetNotice.objects.filter(_is_current(), team=None).order_by("-time", "-pk")


def find_passed() -> list[BudgetNotice]:
    """Returns: what has passed a threshold in its period and is not noted yet, of all teams and of
    the server; unsaved.

    A budget of nothing is none that somebody comes near to. Seven queries.
    """
    now, found = timezone.now(), []
    noted = {_identity(row) for row in BudgetNotice.objects.filter(_is_current())}
    for budget, user_id, standing in load_all_standings():
        threshold = REACHED_PERCENT if standing.is_reached else standing.warn_percent
        is_due = standing.is_reached or (standing.is_near and not standing.is_soft)
        row = BudgetNotice(
            team_id=budget.team_id,
            user_id=user_id,
            project=budget.project,
            model=budget.model,
            period=budget.period,
            is_soft=budget.is_soft,
            start=standing.period.first_day(now),
            threshold=threshold,
            spent=standing.spent,
            limit=standing.limit,
            time=now,
        )
        if standing.limit and is_due and _identity(row) not in noted:
            found.append(row)
    return found


def _is_current() -> Q:
    found = Q()
    for period in Period:
        found |= Q(period=period, start=period.first_day())
    return found


def _identity(row: BudgetNotice) -> tuple[object, ...]:
    return (*_whose(row), row.start, row.threshold)


def _whose(row: BudgetNotice) -> tuple[object, ...]:
    return (row.team_id, row.user_id, row.project, row.model, row.period, row.is_soft)
