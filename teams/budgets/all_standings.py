"""How far all budgets are, for each team and person that they hold for."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.db.models import QuerySet

from teams.budgets.spending import is_counted, spend_key, spent_by_all
from teams.budgets.standings import OF_PEOPLE, Scope, Standing, granted
from teams.models import Budget, Membership, Period, Spend

# A budget, the id of the person for whom it counts here, and how far it is.
Held = tuple[Budget, int | None, Standing]


def load_all_standings() -> list[Held]:
    """Returns: those of all teams and of the server, without what is reserved.

    One of each member is there once for everybody for whom it counts. Five queries.
    """
    return standings_for(list(Budget.objects.order_by("pk")))


def load_instance_standings() -> list[Held]:
    """Returns: those of the whole server."""
    return standings_for(list(Budget.objects.filter(team=None).order_by("pk")))


def standings_for(budgets: list[Budget]) -> list[Held]:
    """Returns: those of the given rows, which must be all of their teams. Four queries."""
    starts = [period.first_day() for period in Period]
    totals = Spend.objects.filter(start__in=starts, team__in={one.team_id for one in budgets})
    rows = list(totals)
    spent = {row.pk: row.cost for row in rows}
    more = granted([one.pk for one in budgets])
    found: list[Held] = []
    for budget, user_id in _holders(budgets):
        period = Period(budget.period)
        if budget.team_id is None:
            used = spent_by_all(period)
        elif budget.model:
            used = sum((row.cost for row in rows if _counts(budget, row)), Decimal(0))
        else:
            key = spend_key(
                budget.team_id,
                period,
                period.first_day(),
                user_id=user_id,
                project=budget.project,
            )
            used = spent.get(key, Decimal(0))
        standing = Standing(
            scope=Scope(budget.scope) if user_id is None else Scope.MEMBER,
            limit=budget.amount + more.get((budget.pk, user_id), Decimal(0)),
            spent=used,
            period=period,
            is_soft=budget.is_soft,
            budget_id=budget.pk,
            warn_percent=budget.warn_percent,
            model=budget.model,
        )
        found.append((budget, user_id, standing))
    return found


def _counts(budget: Budget, row: Spend) -> bool:
    of_models = bool(row.model) and (row.team_id, row.period) == (budget.team_id, budget.period)
    return of_models and is_counted(budget.model, row.model)


def _holders(budgets: list[Budget]) -> Iterator[tuple[Budget, int | None]]:
    """Yield each budget with everybody for whom it counts, or once with None."""
    people = _people(Membership.objects.filter(team__in={one.team_id for one in budgets}))
    own = {(one.team_id, one.user_id, one.period, one.is_soft) for one in budgets if one.user_id}
    services = {
        (one.team_id, one.period, one.is_soft) for one in budgets if one.scope == Scope.SERVICE
    }
    for one in budgets:
        if one.scope not in OF_PEOPLE:
            yield one, None
            continue
        for user_id, is_service in people.get(one.team_id, ()):
            if one.scope == Scope.MEMBER:
                is_held = user_id == one.user_id
            else:
                at = (one.team_id, one.period, one.is_soft)
                is_first = one.scope == (
                    Scope.SERVICE if is_service and at in services else Scope.EACH
                )
                is_held = is_first and (one.team_id, user_id, one.period, one.is_soft) not in own
            if is_held:
                yield one, user_id


def _people(members: QuerySet[Membership]) -> dict[str | None, list[tuple[int, bool]]]:
    """Returns: by team the ids of its people, with whether it is a program's account."""
    found: dict[str | None, list[tuple[int, bool]]] = {}
    for team_id, user_id, service_of in members.values_list("team", "user", "user__service_of"):
        found.setdefault(team_id, []).append((user_id, service_of is not None))
    return found
