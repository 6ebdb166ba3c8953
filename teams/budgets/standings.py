"""What may be spent in a period and how far that is. Periods are those of UTC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.db.models import Q, QuerySet

from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause
from teams.budgets.reasons import BudgetReason
from teams.budgets.spending import is_counted, spend_key, spent_at, spent_by_all, spent_on_models
from teams.models import Budget, BudgetRequest, Period, Reservation, Team, User
from teams.models.budget import WARN_PERCENT

Scope = Budget.Scope
# Those that the form of a team's page has, for all together and for each of its members.
_OF_FORM = (Scope.TEAM, Scope.EACH, Scope.MEMBER)
MONTHLY = Q(scope__in=_OF_FORM, period=Period.MONTH, is_soft=False)
# Those of which one holds for a person, the more special one before the others.
OF_PEOPLE = (Scope.MEMBER, Scope.SERVICE, Scope.EACH)


@dataclass(frozen=True)
class Limit:
    """Which budget: `user_id` only of one member, `project` of one project, `model` of models."""

    scope: Budget.Scope
    period: Period
    is_soft: bool = False
    user_id: int | None = None
    project: str = ""
    model: str = ""
    # From this share on people are warned; None leaves what there is. Units: percent.
    warn_percent: int | None = None

    def columns(self) -> dict[str, str | int | bool | None]:
        """Returns: the columns that identify the row in its team."""
        return {
            "scope": self.scope,
            "period": self.period,
            "is_soft": self.is_soft,
            "user_id": self.user_id,
            "project": self.project,
            "model": self.model,
        }


@dataclass(frozen=True)
class Standing:
    """How far one budget is. Units: USD. `reserved` is for calls that are under way."""

    # `each` and `service` are a member's here.
    scope: Budget.Scope
    limit: Decimal
    spent: Decimal
    reserved: Decimal = Decimal(0)
    period: Period = Period.MONTH
    is_soft: bool = False
    # The row that it comes from.
    budget_id: int = 0
    warn_percent: int = WARN_PERCENT
    # The pattern of a budget of models.
    model: str = ""

    @property
    def is_team(self) -> bool:
        """Everybody of the team together."""
        return self.scope == Scope.TEAM

    @property
    def is_member(self) -> bool:
        """One person alone: it stops nobody else."""
        return self.scope == Scope.MEMBER

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
        return self.percent >= self.warn_percent

    @property
    def until(self) -> datetime:
        """When it begins anew."""
        return self.period.end()


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
    return Period.MONTH.start(now)


def next_month(now: datetime | None = None) -> datetime:
    """Returns: the first moment of the month after that of `now`."""
    return Period.MONTH.end(now)


def why_not(standing: Standing, *, is_held: bool = False, is_own: bool = False) -> Cause:
    """Say that nothing is answered now, what of, who can change it and when it goes on.

    `is_held`: other answers that are under way may need the rest; `is_own`: said to the member.
    """
    reason = BudgetReason.of(
        standing.scope,
        standing.period,
        is_held=is_held,
        is_reached=standing.is_reached,
        is_own=is_own,
    )
    values: dict[str, Decimal | date | str] = {
        "model": standing.model,
        "spent": standing.spent,
        "limit": standing.limit,
        "since": standing.period.first_day(),
        "day": standing.until.date(),
    }
    return Cause(reason, {name: values[name] for name in reason.names})


def is_monthly(budget: Budget) -> bool:
    """Whether it is one of `MONTHLY`."""
    return budget.scope in _OF_FORM and budget.period == Period.MONTH and not budget.is_soft


def load_standings(
    team: Team, user_id: int | None, project_id: str = "", *, model: str | None = ""
) -> list[Standing]:
    """Returns: how far the budgets are that hold for a person: the team's, theirs, all others.

    `model` as of `standings_of`. No query where the team has none.
    """
    if not team.has_budgets:
        return []
    budgets = list(budgets_for(team, user_id, project_id))
    return standings_of(team, budgets, user_id, model=model)


def budgets_for(team: Team, user_id: int | None, project_id: str = "") -> QuerySet[Budget]:
    """Returns: what holds for a call in the name of a person, in an order that all lock them in."""
    people, projects = Q(user=None), Q(project="")
    if user_id is not None:
        people |= Q(user=user_id)
    if project_id:
        projects |= Q(project=project_id)
    return Budget.objects.filter(Q(team=team) & people & projects | Q(team=None)).order_by("pk")


def standings_of(
    team: Team, budgets: list[Budget], user_id: int | None, *, model: str | None = ""
) -> list[Standing]:
    """Returns: how far `budgets`, those that hold for a person, are.

    `model` is the one that is called, as `Reservation.called`: budgets of others are left out.
    Without a call none of these hold; None is for all of them. Three queries, and one for each
    budget of models.
    """
    if not budgets:
        return []
    budgets = [one for one in _in_force(budgets, user_id) if _counts(one, model)]
    # The reservations first: of a call that ends in between both are counted, never neither.
    # Added up here: SQLite would do it in floating point.
    held = Reservation.objects.all()
    if not any(one.team_id is None for one in budgets):
        held = held.filter(team=team)
    reserved = list(held)
    spent = spent_at([_key(one, team, user_id) for one in budgets if one.team_id])
    more = granted([one.pk for one in budgets])
    standings = []
    for one in budgets:
        period = Period(one.period)
        of_person = one.scope in OF_PEOPLE
        extra = more.get((one.pk, None), Decimal(0))
        if of_person:
            extra = more.get((one.pk, user_id), Decimal(0))
        standings.append(
            Standing(
                scope=Scope.MEMBER if of_person else Scope(one.scope),
                limit=one.amount + extra,
                spent=_spent(one, spent, _key(one, team, user_id)),
                reserved=sum(
                    (
                        held.amount
                        for held in reserved
                        if (one.team_id is None or held.team_id == one.team_id)
                        and (not of_person or held.user_id == user_id)
                        and (not one.project or held.project == one.project)
                        and _counts(one, held.called)
                    ),
                    Decimal(0),
                ),
                period=period,
                is_soft=one.is_soft,
                budget_id=one.pk,
                warn_percent=one.warn_percent,
                model=one.model,
            )
        )
    return sorted(standings, key=_order)


def _counts(budget: Budget, model: str | None) -> bool:
    return not budget.model or model is None or is_counted(budget.model, model)


def _spent(budget: Budget, spent: dict[str, Decimal], key: str) -> Decimal:
    period = Period(budget.period)
    if budget.team_id is None:
        return spent_by_all(period)
    if budget.model:
        return spent_on_models(budget.team_id, period, budget.model)
    return spent.get(key, Decimal(0))


def _key(budget: Budget, team: Team, user_id: int | None) -> str:
    period = Period(budget.period)
    user = user_id if budget.scope in OF_PEOPLE else None
    return spend_key(team.pk, period, period.first_day(), user_id=user, project=budget.project)


def _in_force(budgets: list[Budget], user_id: int | None) -> list[Budget]:
    """Returns: of those for people the most special one of each period, and all others."""
    is_service = any(one.scope == Scope.SERVICE for one in budgets) and is_service_account(user_id)
    best: dict[tuple[str, bool], Budget] = {}
    for scope in reversed(OF_PEOPLE):
        for one in budgets:
            if one.scope == scope and (is_service or scope != Scope.SERVICE):
                best[one.period, one.is_soft] = one
    mine = best.values() if user_id is not None else ()
    return [*(one for one in budgets if one.scope not in OF_PEOPLE), *mine]


def is_service_account(user_id: int | None) -> bool:
    """Whether it is a program's account and not a person's."""
    if user_id is None:
        return False
    return User.objects.filter(pk=user_id).exclude(service_of=None).exists()


def granted(budgets: list[int]) -> dict[tuple[int, int | None], Decimal]:
    """Returns: USD that were granted on top of budgets in the periods that are now.

    By the id of the budget and, of one for people, of the person; else with None.
    """
    rows = BudgetRequest.objects.filter(
        budget__in=budgets,
        status=BudgetRequest.Status.GRANTED,
        start__in=[period.first_day() for period in Period],
    ).select_related("budget")
    found: dict[tuple[int, int | None], Decimal] = {}
    for row in rows:
        if row.start == Period(row.budget.period).first_day():
            asker = row.asker_id if row.budget.scope in OF_PEOPLE else None
            found[row.budget_id, asker] = (
                found.get((row.budget_id, asker), Decimal(0)) + row.granted
            )
    return found


def _order(standing: Standing) -> tuple[int, int]:
    scopes = (Scope.TEAM, Scope.MEMBER, Scope.PROJECT, Scope.MODEL, Scope.INSTANCE)
    # The longest first: who is told of it waits the longest.
    periods = (Period.MONTH, Period.WEEK, Period.DAY)
    return scopes.index(standing.scope), periods.index(standing.period)


def hard(standings: Iterable[Standing]) -> list[Standing]:
    """Returns: those that stop calls."""
    return [one for one in standings if not one.is_soft]


def reached(standings: Iterable[Standing]) -> Standing | None:
    """Returns: the first budget that stops calls and of which nothing is left."""
    return next((one for one in hard(standings) if one.is_reached), None)


def require_funds(team: Team, user_id: int | None, project_id: str = "") -> None:
    """Raises: BudgetReached when the team, the project or the person has nothing left to spend."""
    hit = reached(load_standings(team, user_id, project_id))
    if hit is not None:
        raise BudgetReached(hit, until=hit.until, is_own=True)
