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
from sessions.present.pages.budget_notices import share_text
from teams.access import TeamAccess
from teams.budget_form import BudgetForm
from teams.budgets import (
    Standing,
    load_standings,
    month_start,
    next_month,
    reached,
    spent_this_month,
    why_not,
)
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

    @property
    def session_limit(self) -> Decimal | None:
        return min((one for one in (self.session, self.most) if one is not None), default=None)

    @property
    def is_empty(self) -> bool:
        return self.team is None and all(line.standing is None for line in self.lines)


def people_of(access: TeamAccess) -> list[Membership]:
    """Returns: whose budgets the person may see, themselves first, then by name."""
    rows = access.team.memberships.select_related("user")
    if not access.sees_spending:
        rows = rows.filter(user=access.user)
    return sorted(
        rows, key=lambda row: (row.user_id != access.user.pk, row.user.display_name.lower())
    )


def load_budgets(
    access: TeamAccess,
    people: list[Membership],
    budgets: list[Budget],
    form: BudgetForm | None = None,
) -> BudgetPage:
    """`people` as of `people_of`, `budgets` all of the team. One query."""
    found = {(one.scope, one.user_id): one.amount for one in budgets}
    each = found.get((Budget.Scope.EACH.value, None))
    since = month_start()
    spent = spent_this_month(access.team)
    together = spent.get(None, Decimal(0))
    limit = found.get((Budget.Scope.TEAM.value, None))
    lines = []
    for row in people:
        own = found.get((Budget.Scope.MEMBER.value, row.user_id))
        mine, used = own if own is not None else each, spent.get(row.user_id, Decimal(0))
        lines.append(
            BudgetLine(
                user_id=row.user_id,
                name=row.user.display_name,
                email=row.user.email,
                is_self=row.user_id == access.user.pk,
                is_own=own is not None,
                spent=used,
                standing=None if mine is None else Standing(False, mine, used),
                field=form.of_member(row.user_id) if form is not None else None,
            )
        )
    return BudgetPage(
        month=since,
        until=next_month(),
        spent=together,
        team=None if limit is None else Standing(True, limit, together),
        each=each,
        session=team_session_cost(access.team),
        most=server_session_cost(),
        lines=lines,
    )


def budgets_url(team: Team) -> str:
    return reverse("sessions:budgets", kwargs={"team": team.slug})


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
    standings = load_standings(access.team, access.user.pk)
    hit = reached(standings)
    if hit is None:
        untold = [one for one in standings if (None if one.is_team else access.user.pk) not in told]
        return replace(composer, note=_soon(untold, access))
    if composer.session is not None:
        composer = replace(composer, session=replace(composer.session, blocked=True))
    if session is not None and (hit.is_team or session.waits_for == WaitsFor.FUNDS):
        return composer  # it stands above, for everybody who looks
    reason = Reason(
        why_not(hit, is_own=True).worded(),
        budgets_url(access.team),
        _("Open the budgets"),
        of_budget=True,
    )
    error = "" if composer.error == reason.text else composer.error
    return replace(composer, reason=reason, error=error)


def _soon(standings: list[Standing], access: TeamAccess) -> str:
    """A warning for the member, and for admins of what all have together."""
    shown = [one for one in standings if one.is_near]
    one = next((one for one in shown if not one.is_team or access.sees_spending), None)
    return share_text(one) if one is not None else ""
