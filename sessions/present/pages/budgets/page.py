"""The budgets of a team and how far they are: for the page, the API and the message field."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.forms import BoundField
from django.urls import reverse
from django.utils.translation import gettext as _

from sessions.config.cost_limit import server_session_cost, team_session_cost
from sessions.models import Session, WaitsFor
from sessions.present.frame.composer import Composer, Reason
from sessions.present.pages.budgets.limits import LimitLine, load_limits, pace_of
from sessions.present.pages.budgets.notices import share_text
from teams.access import TeamAccess
from teams.budget_form import BudgetForm
from teams.budgets import (
    Scope,
    Standing,
    is_monthly,
    load_standings,
    month_start,
    next_month,
    reached,
    why_not,
)
from teams.budgets.all_standings import standings_for
from teams.budgets.spending import spent_this_month
from teams.models import Budget, Membership, Team


@dataclass(frozen=True)
class BudgetLine:
    """What one member has spent. Units: USD. `standing` is None without a budget."""

    user_id: int
    name: str
    email: str
    is_self: bool
    # A budget of their own, and not that of each.
    is_own: bool
    spent: Decimal
    standing: Standing | None
    field: BoundField | None = None

    @property
    def pace(self) -> str:
        return pace_of(self.standing)


@dataclass(frozen=True)
class BudgetPage:
    """`team` is None without a budget of all. `session` is what one may cost by what the team has
    set, `most` by what the server has; of both the lower counts. `lines` has only the reader's own
    where they see no spending of others.
    """

    month: datetime
    until: datetime
    spent: Decimal
    team: Standing | None
    each: Decimal | None
    session: Decimal | None
    most: Decimal | None
    lines: list[BudgetLine]
    # All others than those of the form.
    more: list[LimitLine]

    @property
    def pace(self) -> str:
        return pace_of(self.team)

    @property
    def session_limit(self) -> Decimal | None:
        return min((one for one in (self.session, self.most) if one is not None), default=None)

    @property
    def is_empty(self) -> bool:
        return (
            self.team is None
            and not self.more
            and all(line.standing is None for line in self.lines)
        )


def people_of(access: TeamAccess) -> list[Membership]:
    """Returns: whose budgets the person may see, themselves first, then by name."""
    rows = access.team.memberships.select_related("user")
    if not access.sees_spending:
        rows = rows.filter(user=access.user)
    return sorted(
        rows, key=lambda row: (row.user_id != access.user.pk, row.user.display_name.lower())
    )


def budgets_of(team: Team) -> list[Budget]:
    """Returns: all budgets of a team with their members."""
    return list(team.budgets.select_related("user").order_by("pk"))


def load_budgets(
    access: TeamAccess,
    people: list[Membership],
    budgets: list[Budget],
    form: BudgetForm | None = None,
) -> BudgetPage:
    """`people` as of `people_of`, `budgets` all of the team."""
    held = standings_for(budgets)
    monthly = {
        user_id: (budget, standing)
        for budget, user_id, standing in held
        if is_monthly(budget) and (user_id is not None or budget.scope == Scope.TEAM)
    }
    each = next((one for one in budgets if is_monthly(one) and one.scope == Scope.EACH), None)
    spent = spent_this_month(access.team)
    lines = []
    for row in people:
        budget, standing = monthly.get(row.user_id, (None, None))
        lines.append(
            BudgetLine(
                user_id=row.user_id,
                name=row.user.display_name,
                email=row.user.email,
                is_self=row.user_id == access.user.pk,
                is_own=budget is not None and budget.scope == Scope.MEMBER,
                spent=spent.get(row.user_id, Decimal(0)),
                standing=standing,
                field=form.of_member(row.user_id) if form is not None else None,
            )
        )
    return BudgetPage(
        month=month_start(),
        until=next_month(),
        spent=spent.get(None, Decimal(0)),
        team=monthly[None][1] if None in monthly else None,
        each=each.amount if each is not None else None,
        session=team_session_cost(access.team),
        most=server_session_cost(),
        lines=lines,
        more=load_limits(access, budgets, held),
    )


def budgets_url(team: Team) -> str:
    return reverse("sessions:budgets", kwargs={"team": team.slug})


def ask_url(team: Team, session: Session | None = None) -> str:
    """Where somebody asks for more of a budget."""
    url = reverse("sessions:budget_ask", kwargs={"team": team.slug})
    return f"{url}?session={session.pk}" if session is not None else url


def with_funds(
    composer: Composer,
    access: TeamAccess,
    session: Session | None = None,
    *,
    told: Collection[int | None] = (),
) -> Composer:
    """Say beside the message field that a budget is reached, or will be soon.

    `told`: whose budgets the page warns of elsewhere, None for that of all. No query where the
    team has none.
    """
    project_id = session.project_id if session is not None else ""
    standings = load_standings(access.team, access.user.pk, project_id)
    hit = reached(standings)
    if hit is None:
        me = access.user.pk
        untold = [one for one in standings if (me if one.is_member else None) not in told]
        return replace(composer, note=_soon(untold, access, session))
    if composer.session is not None:
        composer = replace(composer, session=replace(composer.session, blocked=True))
    if session is not None and (not hit.is_member or session.waits_for == WaitsFor.FUNDS):
        return composer  # it stands above, for everybody who looks
    reason = Reason(
        why_not(hit, is_own=True).worded(),
        budgets_url(access.team),
        _("Open the budgets"),
        of_budget=True,
        ask_url=ask_url(access.team, session),
    )
    error = "" if composer.error == reason.text else composer.error
    return replace(composer, reason=reason, error=error)


def _soon(standings: list[Standing], access: TeamAccess, session: Session | None) -> str:
    """A warning for the member, and for who sees the spending of others. None of the server's."""
    shown = [
        one
        for one in standings
        if one.scope != Scope.INSTANCE and (one.is_reached if one.is_soft else one.is_near)
    ]
    one = next((one for one in shown if one.is_member or access.sees_spending), None)
    if one is None:
        return ""
    return share_text(
        one, of=session.project.name if session and one.scope == Scope.PROJECT else ""
    )
