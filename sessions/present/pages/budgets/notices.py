"""The warnings of budgets as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.visibility import projects_in
from teams.access import TeamAccess
from teams.budget_notices import instance_notices, notices_of, unread_notices
from teams.budgets import Scope, Standing
from teams.models import Budget, BudgetNotice, Period


@dataclass(frozen=True)
class BudgetWarning:
    """How much of a budget was spent, and when. `url` takes a form that puts it away.

    `whose`: the id of the member, or None for one that is not a member's.
    """

    whose: int | None
    text: str
    time: datetime
    is_reached: bool
    url: str


def load_warnings(access: TeamAccess, *, unread: bool = False) -> list[BudgetWarning]:
    """Returns: those that are current, the newest first; with `unread` what has to be read yet."""
    rows = unread_notices(access) if unread else list(notices_of(access))
    names = project_names(access, (row.project for row in rows))
    return [_warning(access, row, names) for row in rows]


def project_names(access: TeamAccess, ids: Iterable[str]) -> dict[str, str]:
    """Returns: the names by id of those projects that the person sees."""
    wanted = {one for one in ids if one}
    if not wanted:
        return {}
    return dict(projects_in(access).filter(pk__in=wanted).values_list("pk", "name"))


def share_text(standing: Standing, *, of: str = "") -> str:
    """Say how much of a budget is spent.

    `of`: the name of the project, or of the member where somebody else reads it.
    """
    values = {
        "percent": standing.percent,
        "spent": money(standing.spent),
        "limit": money(standing.limit),
        "name": of,
        "since": date_format(standing.period.first_day(), "DATE_FORMAT"),
    }
    is_plain = standing.period == Period.MONTH and not standing.is_soft
    if not is_plain or standing.scope in (Scope.PROJECT, Scope.MODEL, Scope.INSTANCE):
        text = (
            _("%(whose)s: the soft budget of %(limit)s since %(since)s is reached.")
            if standing.is_soft and standing.is_reached
            else _("%(whose)s: %(percent)s %% spent since %(since)s, %(spent)s of %(limit)s.")
        )
        values["whose"] = whose_text(standing.scope, of)
    elif standing.is_team:
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


def whose_text(scope: Budget.Scope, name: str = "") -> str:
    """Returns: whose a budget is, `name` is that of a project, of a member but the reader, or the
    pattern of models.
    """
    match scope:
        case Scope.PROJECT:
            return _("Project %(name)s") % {"name": name} if name else _("A project")
        case Scope.MODEL:
            return _("Model %(name)s") % {"name": name}
        case Scope.MEMBER:
            return name or _("You")
    return str(scope.label)


def _warning(access: TeamAccess, row: BudgetNotice, names: dict[str, str]) -> BudgetWarning:
    scope = Scope.PROJECT if row.project else Scope.MEMBER if row.user_id else Scope.TEAM
    if row.model:
        scope = Scope.MODEL
    standing = Standing(scope, row.limit, row.spent, period=Period(row.period), is_soft=row.is_soft)
    name = names.get(row.project, row.model)
    if row.user is not None and row.user_id != access.user.pk:
        name = row.user.display_name
    values = {"team": access.team.slug, "notice": row.pk}
    return BudgetWarning(
        whose=row.user_id,
        text=share_text(standing, of=name),
        time=row.time,
        is_reached=standing.is_reached,
        url=reverse("sessions:budget_notice_away", kwargs=values),
    )


def load_instance_warnings() -> list[str]:
    """Returns: what operators are told of the budgets of the server, of each the newest."""
    newest: dict[tuple[str, bool], BudgetNotice] = {}
    for row in instance_notices():
        newest.setdefault((row.period, row.is_soft), row)
    return [
        share_text(
            Standing(
                Scope.INSTANCE,
                row.limit,
                row.spent,
                period=Period(row.period),
                is_soft=row.is_soft,
            )
        )
        for row in newest.values()
    ]
