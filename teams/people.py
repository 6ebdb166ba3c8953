"""The table of a team's members: its columns, its order, and what stands in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from teams.access import TeamAccess, has_role
from teams.budgets.spending import spent_this_month
from teams.models import Membership, Role


@dataclass(frozen=True)
class PersonRow:
    """A member, as the one who looks may see and change them."""

    membership: Membership
    can_change: bool
    is_self: bool
    spent: Decimal

    @property
    def can_approve(self) -> bool:
        """Whether the role lets them allow anything."""
        return has_role(self.membership.role, Role.MEMBER)

    @property
    def seen(self) -> str:
        """In words."""
        return day_in_words(self.day)

    @property
    def day(self) -> date | None:
        """The day alone, on purpose: this is no clock for the hours of others."""
        user = self.membership.user
        # Of whoever has not been here since days are kept, the sign-in is known.
        return user.last_seen_on or (user.last_login.date() if user.last_login else None)


@dataclass(frozen=True)
class Column:
    """A heading by which the table is sorted."""

    key: str
    label: str
    sorted: str
    is_end: bool = False


# Returns what to sort by; ties stand by e-mail address.
_ORDERS: dict[str, tuple[Callable[[PersonRow], Any], str]] = {
    "name": (lambda row: row.membership.user.display_name.lower(), "ascending"),
    "seen": (lambda row: -(row.day or date.min).toordinal(), "descending"),
    "spent": (lambda row: -row.spent, "descending"),
    "role": (lambda row: list(Role).index(Role(row.membership.role)), "descending"),
}


def columns(sort: str) -> list[Column]:
    """Returns: the headings, of which one says that the table is sorted by it."""
    labels = {
        "name": _("Name"),
        "seen": _("Last seen"),
        "spent": _("This month"),
        "role": _("Role"),
    }
    sort = sort if sort in _ORDERS else "role"
    return [
        Column(key, label, _ORDERS[key][1] if key == sort else "", is_end=key == "spent")
        for key, label in labels.items()
    ]


def people_rows(access: TeamAccess, people: list[Membership], *, sort: str) -> list[PersonRow]:
    """Returns: the members in the order of a column; an unknown one is that of roles."""
    spent = spent_this_month(access.team)
    rows = [
        PersonRow(
            row,
            can_change=access.can(Role.ADMIN) and has_role(access.role, Role(row.role)),
            is_self=row.user_id == access.user.pk,
            spent=spent.get(row.user_id, Decimal(0)),
        )
        for row in people
    ]
    order = _ORDERS.get(sort, _ORDERS["role"])[0]
    return sorted(rows, key=lambda row: (order(row), row.membership.user.email))


def day_in_words(day: date | None) -> str:
    """Returns: the day that was, as people say it."""
    if day is None:
        return _("never")
    age = (timezone.now().date() - day).days
    if age <= 0:
        return _("today")
    return _("yesterday") if age == 1 else date_format(day, "DATE_FORMAT")
