"""Requests for the approval of a change, as people read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from difflib import ndiff

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject, JsonValue, list_of, number_of, object_of, text_of
from opencode_web.lib.templatetags.ui import money
from sessions.approvals.people import approvers_for, deciders
from sessions.approvals.requests import visible_changes
from sessions.approvers import Approver
from sessions.config.rule_levels import RULE_KEYS
from sessions.models import ChangeKind, ChangeRequest
from sessions.present.approval_titles import title_of
from sessions.present.pages.budgets.notices import whose_text
from sessions.rules.rows import read_rows
from sessions.visibility import projects_in
from teams.access import TeamAccess
from teams.budgets import Scope
from teams.models import Period, Role, User

Status = ChangeRequest.Status
_MOST_DECIDED = 20
_TOLD_FOR = timedelta(days=1)


@dataclass(frozen=True)
class ChangeLine:
    """What is different afterwards. `is_code`: `after` has the lines of settings that differ."""

    label: str
    before: str
    after: str
    is_code: bool = False


@dataclass(frozen=True)
class ChangeCard:
    """One request. `decided` says what became of it, `waits_for` who can decide."""

    id: str
    title: str
    kind: str
    asker: str
    reason: str
    time: datetime
    until: datetime
    lines: list[ChangeLine]
    is_own: bool
    may_decide: bool
    waits_for: str
    # The role that it takes.
    need: str
    status: str
    decided: str
    note: str
    url: str

    @property
    def is_pending(self) -> bool:
        return self.status == Status.PENDING


@dataclass(frozen=True)
class ChangeList:
    """`mine`: those that the person can decide; `others` wait too; `past` is decided."""

    mine: list[ChangeCard]
    others: list[ChangeCard]
    past: list[ChangeCard]


@dataclass(frozen=True)
class InboxChanges:
    """`mine`: those that the person can decide; `own`: those that they have asked for and that wait
    or were decided within a day."""

    mine: list[ChangeCard]
    own: list[ChangeCard]


def load_changes(access: TeamAccess) -> ChangeList:
    """Returns: what the person may see of the team's requests, the oldest first that wait."""
    rows = visible_changes(access)
    pending = rows.filter(status=Status.PENDING).order_by("created_at", "pk")
    past = rows.exclude(status=Status.PENDING).order_by("-decided_at", "-pk")[:_MOST_DECIDED]
    cards = build_cards(access, [*pending, *past])
    return ChangeList(
        [card for card in cards if card.may_decide],
        [card for card in cards if card.is_pending and not card.may_decide],
        [card for card in cards if not card.is_pending],
    )


def load_for_inbox(access: TeamAccess) -> InboxChanges:
    """Returns: the oldest first. No query where the team has nothing approved."""
    if not access.team.needs_approval:
        return InboxChanges([], [])
    lately = timezone.now() - _TOLD_FOR
    own = Q(asker=access.user, decided_at__gt=lately) & ~Q(status=Status.WITHDRAWN)
    rows = visible_changes(access).filter(Q(status=Status.PENDING) | own)
    cards = build_cards(access, list(rows.order_by("created_at", "pk")))
    return InboxChanges(
        [card for card in cards if card.may_decide], [card for card in cards if card.is_own]
    )


def build_cards(access: TeamAccess, rows: list[ChangeRequest]) -> list[ChangeCard]:
    if not rows:
        return []
    names = _names(access, rows)
    named = approvers_for(access.team, rows)
    return [_card(access, row, named[row.project_id], names) for row in rows]


def lines_of(row: ChangeRequest, names: dict[str, str]) -> list[ChangeLine]:
    """Returns: what was before and what would be after. `names`: of people and projects, by id."""
    told: JsonObject = row.told
    match ChangeKind(row.kind):
        case ChangeKind.BUDGETS:
            changes = [one for one in list_of(told, "changes") if isinstance(one, dict)]
            return [_budget(one, names) for one in changes]
        case ChangeKind.RULES if "files" in told:
            files = "\n".join(map(str, list_of(told, "files")))
            return [ChangeLine(_("Files"), "", files, is_code=True)]
        case ChangeKind.RULES:
            before, after = (_rule_lines(text_of(told, side)) for side in ("before", "after"))
            lines = [line for line in ndiff(before, after) if not line.startswith("?")]
            return [ChangeLine(_("Rules"), "", "\n".join(lines), is_code=True)]
        case ChangeKind.SECRETS:
            return _projects(told)
        case ChangeKind.POLICY:
            kinds = [ChangeKind(str(one)).label for one in list_of(told, "dropped")]
            return [ChangeLine(str(one), _("Approval"), _("No approval")) for one in kinds]
        case _:
            shown = {"title": _("Title"), "commit": _("Commit")}
            found = [(label, text_of(told, key)) for key, label in shown.items()]
            return [ChangeLine(label, "", text) for label, text in found if text]


def _rule_lines(text: str) -> list[str]:
    """Returns: a line for each rule of settings, in the order in which they count."""
    rules: JsonObject = json.loads(text or "{}")
    lines = _rules_in(rules, "")
    for name in object_of(rules, "agent"):
        lines += _rules_in(object_of(object_of(rules, "agent"), name), f"{name}: ")
    return lines


def _rules_in(rules: JsonObject, whose: str) -> list[str]:
    # In the older forms, which are kept as they were written.
    older = [key for key in RULE_KEYS if key in rules and key != "permission"]
    return [
        *(f"{whose}{key} {json.dumps(rules[key])}" for key in older),
        *(
            f"{whose}{row.tool} {row.pattern} → {row.action}"
            for row in read_rows(rules.get("permission"))
        ),
    ]


def _projects(told: JsonObject) -> list[ChangeLine]:
    """The projects that get a secret of the team, where that changes."""
    if "after" not in told:
        return []
    before, after = (_listed(told, side) for side in ("before", "after"))
    if before == after or (told.get("new") and after is None):
        return []
    every = _("All projects")
    return [ChangeLine(_("Projects"), before or every, after or every)]


def _listed(told: JsonObject, side: str) -> str:
    return ", ".join(map(str, list_of(told, side)))


def _budget(told: JsonObject, names: dict[str, str]) -> ChangeLine:
    scope = text_of(told, "scope")
    if scope == "unpriced":
        return ChangeLine(_("Models without a known price"), _("Not allowed"), _("Allowed"))
    if scope == "models":
        every = _("All models")
        before, after = (_listed(told, one) for one in ("before", "after"))
        return ChangeLine(_("Allowed models"), before or every, after or every)
    if scope == "price":
        names = {
            "input": _("Input price"),
            "output": _("Output price"),
            "cache_read": _("Cache read price"),
            "cache_write": _("Cache write price"),
            "reasoning": _("Output price with thinking"),
        }
        parts = (text_of(told, "model"), names[text_of(told, "price")], text_of(told, "tier"))
        before, after = (_price(told.get(one)) for one in ("before", "after"))
        return ChangeLine(" · ".join(part for part in parts if part), before, after)
    label = _("Each turn") if scope == "turn" else _("Each session")
    if scope not in {"session", "turn"}:
        name = names.get(text_of(told, "project")) or names.get(str(told.get("user_id")), "")
        name = name or text_of(told, "model")
        period = Period(text_of(told, "period")).label
        label = f"{whose_text(Scope(scope), name)} · {period}"
    return ChangeLine(label, _money(told.get("before")), _money(told.get("after")))


def _money(amount: JsonValue) -> str:
    return money(Decimal(amount)) if isinstance(amount, str) else _("No limit")


def _price(amount: JsonValue) -> str:
    return money(Decimal(amount), short=True) if isinstance(amount, str) else _("price not known")


def _names(access: TeamAccess, rows: list[ChangeRequest]) -> dict[str, str]:
    """Returns: the names of the people and, for who sees them, projects whose budgets change."""
    changes = [
        one
        for row in rows
        if row.kind == ChangeKind.BUDGETS
        for one in list_of(row.told, "changes")
        if isinstance(one, dict)
    ]
    people = {user for one in changes if (user := number_of(one, "user_id")) is not None}
    projects = {text_of(one, "project") for one in changes} - {""}
    users = User.objects.filter(pk__in=people) if people else ()
    found = projects_in(access).filter(pk__in=projects) if projects else ()
    return {
        **{str(user.pk): user.display_name for user in users},
        **{project.pk: project.name for project in found},
    }


def _card(
    access: TeamAccess, row: ChangeRequest, named: list[Approver], names: dict[str, str]
) -> ChangeCard:
    pending = row.status == Status.PENDING
    can_decide = deciders(named, row) if pending else []
    place = {"team": access.team.slug, "change": row.pk}
    return ChangeCard(
        id=row.pk,
        title=title_of(row),
        kind=str(ChangeKind(row.kind).label),
        asker=row.asker.display_name,
        reason=row.reason,
        time=row.created_at,
        until=row.expires_at,
        lines=lines_of(row, names),
        is_own=row.asker_id == access.user.pk,
        may_decide=access.user in can_decide,
        waits_for=get_text_list([one.display_name for one in can_decide], _("or")),
        need=str(Role(row.need).noun),
        status=row.status,
        decided=_decided(row),
        note=row.note,
        url=reverse("sessions:change", kwargs=place),
    )


def _decided(row: ChangeRequest) -> str:
    label = str(Status(row.status).label)
    who = row.decided_by.display_name if row.decided_by else ""
    return f"{label} · {who}" if who else label
