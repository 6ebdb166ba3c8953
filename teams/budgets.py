"""What teams and members may spend in a month, and how far they are. Months are those of UTC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause, Reason
from teams.models import Budget, MonthlySpend, Reservation, Team

# From this share on people are warned. Units: percent.
WARN_PERCENT = 80


class BudgetReason(Reason):
    """Why a call of a model is not made now."""

    HELD = (
        "budget_held",
        gettext_noop(
            "Other answers that are under way may need the rest of the budget, {limit} for this "
            "month. This goes on by itself when they have ended and enough is left."
        ),
    )
    TEAM_SHORT = (
        "team_budget_short",
        gettext_noop(
            "What is left of the team's budget is not enough for the next answer: {spent} of "
            "{limit} are spent this month. An admin can raise it; the next month begins on "
            "{day}."
        ),
    )
    MEMBER_SHORT = (
        "member_budget_short",
        gettext_noop(
            "What is left of the member's budget is not enough for the next answer: {spent} of "
            "{limit} are spent this month. An admin can raise it; the next month begins on "
            "{day}."
        ),
    )
    OWN_REACHED = (
        "own_budget_reached",
        gettext_noop(
            "Your budget is reached: {spent} of {limit} are spent this month. An admin can "
            "raise it; the next month begins on {day}."
        ),
    )
    TEAM_REACHED = (
        "team_budget_reached",
        gettext_noop(
            "Team budget reached: {spent} of {limit} are spent this month. An admin can raise "
            "it; the next month begins on {day}."
        ),
    )
    MEMBER_REACHED = (
        "member_budget_reached",
        gettext_noop(
            "The member's budget is reached: {spent} of {limit} are spent this month. An admin "
            "can raise it; the next month begins on {day}."
        ),
    )


@dataclass(frozen=True)
class Standing:
    """How far one budget is. Units: USD. `reserved` is for calls that are under way."""

    # Everybody together, else one member.
    is_team: bool
    limit: Decimal
    spent: Decimal
    reserved: Decimal = Decimal(0)

    @property
    def left(self) -> Decimal:
        return max(self.limit - self.spent, Decimal(0))

    @property
    def free(self) -> Decimal:
        """What is neither spent nor set apart."""
        return max(self.left - self.reserved, Decimal(0))

    @property
    def percent(self) -> int:
        """0 to 100, and 100 only when it is reached."""
        if self.is_reached:
            return 100
        return min(99, int(100 * self.spent / self.limit))

    @property
    def is_reached(self) -> bool:
        return self.spent >= self.limit

    @property
    def is_near(self) -> bool:
        return self.percent >= WARN_PERCENT


class BudgetReached(Conflict):
    """A call of a model would cost more than is left."""

    def __init__(
        self,
        standing: Standing,
        *,
        until: datetime,
        is_held: bool = False,
        is_own: bool = False,
    ) -> None:
        super().__init__(why_not(standing, is_held=is_held, is_own=is_own))
        # When to look again, if nobody raises it before.
        self.until = until


def month_start(now: datetime | None = None) -> datetime:
    """Returns: the first moment of the month of `now`."""
    now = now or timezone.now()
    return now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def next_month(now: datetime | None = None) -> datetime:
    """Returns: the first moment of the month after that of `now`."""
    start = month_start(now)
    if start.month == 12:
        return start.replace(year=start.year + 1, month=1)
    return start.replace(month=start.month + 1)


def why_not(standing: Standing, *, is_held: bool = False, is_own: bool = False) -> Cause:
    """Say that nothing is answered now, what of, who can change it and when it goes on.

    `is_held`: other answers that are under way may need the rest; `is_own`: said to the member.
    """
    if is_held:
        reason = BudgetReason.HELD
    elif not standing.is_reached:
        reason = BudgetReason.TEAM_SHORT if standing.is_team else BudgetReason.MEMBER_SHORT
    elif is_own and not standing.is_team:
        reason = BudgetReason.OWN_REACHED
    else:
        reason = BudgetReason.TEAM_REACHED if standing.is_team else BudgetReason.MEMBER_REACHED
    day = next_month().date()
    return Cause(reason, {"spent": standing.spent, "limit": standing.limit, "day": day})


def load_standings(team: Team, user_id: int | None) -> list[Standing]:
    """Returns: how far the budget of the team is, then that of the member, as far as there are any.

    No query where the team has none.
    """
    if not team.has_budgets:
        return []
    return standings_of(team, list(budgets_for(team, user_id)), user_id)


def budgets_for(team: Team, user_id: int | None) -> QuerySet[Budget]:
    """Returns: what holds for a call in the name of a person, in an order that all lock them in."""
    mine = Q(user=None) if user_id is None else Q(user=None) | Q(user=user_id)
    return Budget.objects.filter(mine, team=team).order_by("pk")


def standings_of(team: Team, budgets: list[Budget], user_id: int | None) -> list[Standing]:
    """Returns: how far `budgets`, those that hold for a person, are. Two queries."""
    if not budgets:
        return []
    # The reservations first: of a call that ends in between both are counted, never neither.
    # Added up here: SQLite would do it in floating point.
    held = list(Reservation.objects.filter(team=team).values_list("user", "amount"))
    theirs = Q(user=None) | Q(user=user_id)
    spent = _spent(MonthlySpend.objects.filter(theirs, team=team))
    found = {one.scope: one.amount for one in budgets}
    standings: list[Standing] = []
    if (limit := found.get(Budget.Scope.TEAM)) is not None:
        reserved = sum((amount for _, amount in held), Decimal(0))
        standings.append(Standing(True, limit, spent.get(None, Decimal(0)), reserved))
    limit = found.get(Budget.Scope.MEMBER, found.get(Budget.Scope.EACH))
    if user_id is not None and limit is not None:
        reserved = sum((amount for user, amount in held if user == user_id), Decimal(0))
        standings.append(Standing(False, limit, spent.get(user_id, Decimal(0)), reserved))
    return standings


def spent_this_month(team: Team) -> dict[int | None, Decimal]:
    """Returns: id of a person -> USD that what they asked for has cost; None -> all together."""
    return _spent(MonthlySpend.objects.filter(team=team))


def _spent(totals: QuerySet[MonthlySpend]) -> dict[int | None, Decimal]:
    rows = totals.filter(month=month_start().date())
    return dict(rows.values_list("user", "cost"))


def reached(standings: Iterable[Standing]) -> Standing | None:
    """Returns: the first budget of which nothing is left."""
    return next((one for one in standings if one.is_reached), None)


def require_funds(team: Team, user_id: int | None) -> None:
    """Raises: BudgetReached when the team or the person has nothing left to spend."""
    hit = reached(load_standings(team, user_id))
    if hit is not None:
        raise BudgetReached(hit, until=next_month(), is_own=True)
