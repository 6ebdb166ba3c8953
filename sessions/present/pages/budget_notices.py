"""The warnings of budgets as people read them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from teams.access import TeamAccess
from teams.budget_notices import notices_of, unread_notices
from teams.budgets import Standing
from teams.models import BudgetNotice


@dataclass(frozen=True)
class BudgetWarning:
    """How much of a budget was spent, and when. `url` takes a form that puts it away.

    `whose`: the id of the member, or None for the budget of all.
    """

    whose: int | None
    text: str
    time: datetime
    is_reached: bool
    url: str


def load_warnings(access: TeamAccess, *, unread: bool = False) -> list[BudgetWarning]:
    """Returns: this month's, the newest first; with `unread` what has to be read yet."""
    rows = unread_notices(access) if unread else notices_of(access)
    return [_warning(access, row) for row in rows]


def share_text(standing: Standing, *, of: str = "") -> str:
    """Say how much of a budget is spent: of the team, of another member, or of who reads it."""
    values = {
        "percent": standing.percent,
        "spent": money(standing.spent),
        "limit": money(standing.limit),
        "name": of,
    }
    if standing.is_team:
        text = _(
            "%(percent)s %% of the team's budget for this month is spent: %(spent)s of %(limit)s."
        )
    elif of:
        text = _(
            "%(percent)s %% of %(name)s's budget for this month is spent: %(spent)s of %(limit)s."
        )
    else:
        text = _("%(percent)s %% of your budget for this month is spent: %(spent)s of %(limit)s.")
    return text % values


def _warning(access: TeamAccess, row: BudgetNotice) -> BudgetWarning:
    standing = Standing(row.user_id is None, row.limit, row.spent)
    is_others = row.user is not None and row.user_id != access.user.pk
    names = {"team": access.team.slug, "notice": row.pk}
    return BudgetWarning(
        whose=row.user_id,
        text=share_text(standing, of=row.user.display_name if is_others and row.user else ""),
        time=row.time,
        is_reached=standing.is_reached,
        url=reverse("sessions:budget_notice_away", kwargs=names),
    )
