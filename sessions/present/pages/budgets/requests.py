"""Requests for more of a budget, for those who answer them and those who have asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.present.pages.budgets.notices import project_names, whose_text
from teams.access import TeamAccess
from teams.budgets import OF_PEOPLE, Scope, Standing
from teams.budgets.requests import (
    askable,
    current_requests,
    instance_requests,
    own_requests,
    waiting_requests,
)
from teams.models import BudgetRequest, Period, User

Status = BudgetRequest.Status


@dataclass(frozen=True)
class RequestCard:
    """A request that waits. `url` takes the answer."""

    id: str
    asker: str
    whose: str
    amount: Decimal
    reason: str
    time: datetime
    until: datetime
    url: str
    team: str = ""
    session_url: str = ""


@dataclass(frozen=True)
class OwnRequest:
    """What somebody has asked for, and what became of it. `url` puts an answer away."""

    text: str
    answer: str
    is_granted: bool
    url: str


def load_waiting(access: TeamAccess) -> list[RequestCard]:
    """Returns: those of the team that the person can answer, the oldest first."""
    if not access.team.has_budgets:
        return []
    rows = list(waiting_requests(access))
    names = project_names(access, (row.budget.project for row in rows))
    cards = []
    for row in rows:
        place = {"team": access.team.slug}
        card = _card(
            row, names, reverse("sessions:budget_answer", kwargs={**place, "asked": row.pk})
        )
        if access.sees_work and row.session:
            url = reverse("sessions:session", kwargs={**place, "session": row.session})
            card = replace(card, session_url=url)
        cards.append(card)
    return cards


def load_instance_waiting(user: User) -> list[RequestCard]:
    """Returns: those for more of the server's budgets, for an operator."""
    rows = instance_requests(user)
    cards = [_card(row, {}, reverse("ops:budget_answer", args=[row.pk])) for row in rows]
    return [replace(card, team=row.team.name) for card, row in zip(cards, rows, strict=True)]


def load_own(access: TeamAccess) -> list[OwnRequest]:
    """Returns: what the person has asked for. No query where the team has no budget."""
    if not access.team.has_budgets:
        return []
    rows = list(own_requests(access))
    names = project_names(access, (row.budget.project for row in rows))
    return [_own(row, names, access.team.slug) for row in rows]


def load_askable(access: TeamAccess, project_id: str = "") -> list[tuple[int, str]]:
    """Returns: the budgets that the person can ask for, with what a form says of them."""
    names = project_names(access, [project_id])
    asked = current_requests().filter(asker=access.user, status=Status.PENDING)
    waiting = set(asked.values_list("budget", flat=True))
    found = askable(access, project_id)
    name = names.get(project_id, "")
    return [(one.budget_id, _choice(one, name)) for one in found if one.budget_id not in waiting]


def _choice(one: Standing, project: str) -> str:
    whose = whose_text(one.scope, project if one.scope == Scope.PROJECT else one.model)
    if one.scope == Scope.INSTANCE:
        return f"{whose} · {one.period.label}"
    values = {"spent": money(one.spent), "limit": money(one.limit)}
    spent = _("%(spent)s of %(limit)s") % values
    return f"{whose} · {one.period.label} · {spent}"


def _whose(row: BudgetRequest, names: dict[str, str], *, reader_is_asker: bool) -> str:
    scope = Scope(row.budget.scope)
    if scope in OF_PEOPLE:
        return whose_text(Scope.MEMBER, "" if reader_is_asker else row.asker.display_name)
    return whose_text(scope, names.get(row.budget.project, row.budget.model))


def _card(row: BudgetRequest, names: dict[str, str], url: str) -> RequestCard:
    period = Period(row.budget.period)
    return RequestCard(
        id=row.pk,
        asker=row.asker.display_name,
        whose=f"{_whose(row, names, reader_is_asker=False)} · {period.label}",
        amount=row.amount,
        reason=row.reason,
        time=row.created_at,
        until=period.end(),
        url=url,
    )


def _own(row: BudgetRequest, names: dict[str, str], slug: str) -> OwnRequest:
    values = {
        "amount": money(row.amount),
        "granted": money(row.granted),
        "whose": _whose(row, names, reader_is_asker=True),
        "by": row.answered_by.display_name if row.answered_by else "",
        "day": date_format(Period(row.budget.period).end(), "DATE_FORMAT"),
    }
    match row.status:
        case Status.GRANTED:
            text = _("%(by)s granted %(granted)s more until %(day)s. Budget: %(whose)s.")
        case Status.DENIED:
            text = _("%(by)s denied your request for %(amount)s more. Budget: %(whose)s.")
        case _other:
            text = _("You asked for %(amount)s more. Nobody has answered yet. Budget: %(whose)s.")
    url = reverse("sessions:budget_answer_away", kwargs={"team": slug, "asked": row.pk})
    is_waiting = row.status == Status.PENDING
    return OwnRequest(
        text % values, row.answer, row.status == Status.GRANTED, "" if is_waiting else url
    )
