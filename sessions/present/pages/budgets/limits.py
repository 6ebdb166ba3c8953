"""The budgets beside those of the form, as lines of a page and of the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.present.pages.budgets.notices import project_names, whose_text
from teams.access import TeamAccess
from teams.budgets import OF_PEOPLE, Scope, Standing, is_monthly, load_standings
from teams.budgets.all_standings import Held, load_instance_standings
from teams.budgets.forecast import Forecast, forecast
from teams.models import Budget, Period


@dataclass(frozen=True)
class LimitLine:
    """One budget. `standing` is None where it counts for each of several people. Units: USD."""

    id: int
    scope: Budget.Scope
    whose: str
    user_id: int | None
    project: str
    model: str
    period: Period
    since: date
    until: datetime
    is_soft: bool
    amount: Decimal
    standing: Standing | None
    forecast: Forecast | None

    @property
    def pace(self) -> str:
        return pace_text(self.forecast)


def pace_text(found: Forecast | None) -> str:
    """Say when a budget is spent at the current pace; empty without enough to go by."""
    if found is None:
        return ""
    if found.runs_out is None:
        text = _("At the current pace, %(total)s by the end of the period.")
        return text % {"total": money(found.total)}
    when = date_format(found.runs_out, "DATETIME_FORMAT")
    return _("At the current pace, it runs out on %(when)s UTC.") % {"when": when}


def pace_of(standing: Standing | None) -> str:
    """Returns: the same for how far a budget is."""
    return pace_text(forecast(standing)) if standing is not None else ""


def load_paces(access: TeamAccess) -> list[str]:
    """Returns: what is forecast of the budgets of the team and of the person, with whose they are.

    No query where the team has none.
    """
    standings = load_standings(access.team, access.user.pk, model=None)
    told = [(one, pace_of(one)) for one in standings if one.scope != Scope.INSTANCE]
    return [
        f"{whose_text(one.scope, one.model)} · {one.period.label} · {money(one.limit)}: {pace}"
        for one, pace in told
        if pace
    ]


def load_limits(
    access: TeamAccess, budgets: list[Budget], held: list[Held], *, every: bool = False
) -> list[LimitLine]:
    """Returns: what the person may see of `budgets`, which are all that the team has.

    `held` is how far they are, as of `standings_for`. Without `every`, those are left out that the
    form has. Who sees what others spend sees each budget, others what holds for them and for all.
    """
    found: dict[int, tuple[Budget, Standing | None]] = {}
    for budget, user_id, standing in held:
        of_many = budget.scope in OF_PEOPLE and budget.scope != Scope.MEMBER
        if access.sees_spending:
            found[budget.pk] = (budget, None if of_many else standing)
        elif user_id in (None, access.user.pk):
            found[budget.pk] = (budget, standing)
    if access.sees_spending:
        # Of one for each, where there is nobody whom it counts for.
        found = {one.pk: found.get(one.pk, (one, None)) for one in budgets}
    shown = [one for one in found.values() if every or not is_monthly(one[0])]
    names = project_names(access, (budget.project for budget, _standing in shown))
    lines = []
    for budget, found_standing in shown:
        if budget.project and budget.project not in names and not access.sees_spending:
            continue
        name = names.get(budget.project, budget.model)
        if budget.user is not None and budget.user_id != access.user.pk:
            name = budget.user.display_name
        lines.append(_line(budget, found_standing, name))
    return lines


def load_instance_limits() -> list[LimitLine]:
    """Returns: the budgets of the whole server."""
    return [_line(budget, standing, "") for budget, _user, standing in load_instance_standings()]


def _line(budget: Budget, standing: Standing | None, name: str) -> LimitLine:
    period = Period(budget.period)
    scope = Scope(budget.scope)
    return LimitLine(
        id=budget.pk,
        scope=scope,
        whose=whose_text(standing.scope if standing else scope, name),
        user_id=budget.user_id,
        project=budget.project,
        model=budget.model,
        period=period,
        since=period.first_day(),
        until=period.end(),
        is_soft=budget.is_soft,
        amount=budget.amount,
        standing=standing,
        forecast=forecast(standing) if standing is not None else None,
    )
