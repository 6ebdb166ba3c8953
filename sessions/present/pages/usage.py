"""The page of what a team uses: sums with names, shares and addresses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from opencode_web.lib.errors import NotFound
from providers.model_names import ModelNames
from sessions.config.effective import team_data
from sessions.visibility import named_projects
from teams.access import TeamAccess
from teams.models import UsageEntry, User
from teams.usage import GONE, Asked, Used, add_up, by, by_day, find_usage
from teams.usage_form import RANGES, USUAL

# What the address can have, in its order.
_NAMES = ("range", "since", "until", "member", "model", "project")
CHART_HEIGHT = 100
BAR_WIDTH = 10


@dataclass(frozen=True)
class Link:
    """`url` begins with the question mark."""

    label: str
    url: str
    is_current: bool = False


@dataclass(frozen=True)
class Figure:
    """A total, and how it has changed since as many days before, in percent."""

    value: Any
    change: int | None


@dataclass(frozen=True)
class Bar:
    """Units: those of the chart's `viewBox`."""

    day: date
    used: Used
    x: int
    y: int
    height: int


@dataclass(frozen=True)
class UsageLine:
    """A row of a table; `share` of the cost, or of the tokens where nothing had a price."""

    label: str
    note: str
    url: str
    used: Used
    share: int


@dataclass(frozen=True)
class Table:
    id: str
    title: str
    lines: list[UsageLine]


@dataclass(frozen=True)
class UsagePage:
    asked: Asked
    ranges: list[Link]
    chips: list[Link]
    # Of the address, for what else is a form on the page.
    kept: dict[str, str]
    query: str
    cost: Figure
    bound: Decimal
    unpriced: int
    tokens: Figure
    calls: Figure
    turns: Figure
    is_empty: bool
    in_tokens: bool
    most: Used
    bars: list[Bar]
    tables: list[Table]
    chart_width: int


@dataclass(frozen=True)
class Names:
    """What people call what entries name by ids."""

    people: Mapping[int, User]
    projects: Mapping[str, str]
    # Ids of those that are there and that the reader does not see.
    hidden: Collection[str]
    models: ModelNames

    def person(self, id: int | None) -> str:
        user = self.people.get(id or GONE)
        return user.display_name if user else _("Deleted accounts")

    def email(self, id: int | None) -> str:
        user = self.people.get(id or GONE)
        return user.email if user else ""

    def model(self, provider: str, model: str) -> str:
        """What stands for a model that the log does not name, too."""
        return self.models(provider, model) if model else _("Not recorded")

    def project(self, id: str) -> str:
        if not id:
            return _("Outside projects")
        if id in self.hidden:
            return _("Restricted project")
        return self.projects.get(id) or _("Deleted project %(id)s") % {"id": id[-6:]}


def load_names(access: TeamAccess, entries: QuerySet[UsageEntry]) -> Names:
    """Returns: the names of everybody in the entries, and of projects that the person may know."""
    team = access.team
    ids = entries.order_by().values("user")
    people = {user.pk: user for user in User.objects.filter(pk__in=ids)}
    projects = dict(named_projects(access).values_list("pk", "name"))
    hidden = set(team.projects.exclude(pk__in=projects).values_list("pk", flat=True))
    return Names(people, projects, hidden, ModelNames(team, partial(team_data, team)))


def require_seen(access: TeamAccess, asked: Asked) -> None:
    """Raises: NotFound for a project of the team that the person may not know of."""
    there = access.team.projects.filter(pk=asked.project)
    if not access.sees_spending and there.exclude(pk__in=named_projects(access)).exists():
        raise NotFound("Project", asked.project)


def load_usage(access: TeamAccess, asked: Asked, given: QueryDict, *, for_all: bool) -> UsagePage:
    """`for_all`: with the table of members."""
    team = access.team
    entries = find_usage(team, asked)
    names = load_names(access, entries)
    kept = {name: str(given[name]) for name in _NAMES if given.get(name)}
    total, before = add_up(entries), add_up(find_usage(team, asked.before()))
    days = by_day(entries)
    in_tokens = not total.cost
    tables = _tables(entries, names, kept, total, for_all=for_all)
    return UsagePage(
        asked=asked,
        ranges=_ranges(kept),
        chips=_chips(asked, names, kept, for_all=for_all),
        kept={name: kept[name] for name in ("member", "model", "project") if name in kept},
        query=_query(kept),
        cost=Figure(total.cost, _change(total.cost, before.cost)),
        bound=total.bound,
        unpriced=total.unpriced,
        tokens=Figure(total.tokens, _change(total.tokens, before.tokens)),
        calls=Figure(total.calls, _change(total.calls, before.calls)),
        turns=Figure(total.turns, _change(total.turns, before.turns)),
        is_empty=not total.calls,
        in_tokens=in_tokens,
        most=max(days.values(), key=lambda one: _size(one, in_tokens=in_tokens), default=Used()),
        bars=_bars(asked.days, days, in_tokens=in_tokens),
        tables=tables,
        chart_width=len(asked.days) * BAR_WIDTH,
    )


def _tables(
    entries: QuerySet[UsageEntry],
    names: Names,
    kept: dict[str, str],
    total: Used,
    *,
    for_all: bool,
) -> list[Table]:
    def lines(name: str, *columns: str) -> list[UsageLine]:
        return [_line(names, kept, total, name, key, used) for key, used in by(entries, *columns)]

    members = [Table("members", _("By member"), lines("member", "user"))] if for_all else []
    return [
        *members,
        Table("models", _("By model"), lines("model", "provider", "model")),
        Table("projects", _("By project"), lines("project", "project")),
    ]


def _line(
    names: Names, kept: dict[str, str], total: Used, name: str, key: tuple[Any, ...], used: Used
) -> UsageLine:
    match name:
        case "member":
            label, note, value = names.person(key[0]), names.email(key[0]), str(key[0] or GONE)
        case "model":
            value = f"{key[0]}/{key[1]}"
            label, note = names.model(*key), value if key[1] else ""
        case _:
            label, note, value = names.project(key[0]), "", key[0]
    return UsageLine(label, note, _query({**kept, name: value}), used, _share(used, total))


def _share(used: Used, total: Used) -> int:
    in_tokens = not total.cost
    whole = _size(total, in_tokens=in_tokens)
    return round(100 * _size(used, in_tokens=in_tokens) / whole) if whole else 0


def _bars(all_days: list[date], days: dict[date, Used], *, in_tokens: bool) -> list[Bar]:
    sizes = [_size(used, in_tokens=in_tokens) for used in days.values()]
    most = max(sizes, default=Decimal(0)) or Decimal(1)
    bars = []
    for number, day in enumerate(all_days):
        used = days.get(day, Used())
        size = _size(used, in_tokens=in_tokens)
        # What is there can be seen, however little it is.
        height = max(1, round(CHART_HEIGHT * size / most)) if size else 0
        bars.append(Bar(day, used, number * BAR_WIDTH + 1, CHART_HEIGHT - height, height))
    return bars


def _size(used: Used, *, in_tokens: bool) -> Decimal:
    return Decimal(used.tokens) if in_tokens else used.cost


def _change(now: Decimal | int, before: Decimal | int) -> int | None:
    return round(100 * (Decimal(now) - before) / before) if before else None


def _ranges(kept: dict[str, str]) -> list[Link]:
    rest = {name: text for name, text in kept.items() if name not in ("range", "since", "until")}
    own = "since" in kept or "until" in kept
    chosen = "" if own else kept.get("range", USUAL)
    return [
        Link(str(label), _query({"range": name, **rest}), name == chosen) for name, label in RANGES
    ]


def _chips(asked: Asked, names: Names, kept: dict[str, str], *, for_all: bool) -> list[Link]:
    shown = []
    if for_all and asked.member is not None:
        known = names.people or {user.pk: user for user in User.objects.filter(pk=asked.member)}
        shown.append(("member", replace(names, people=known).person(asked.member)))
    if asked.model:
        provider, _slash, model = asked.model.partition("/")
        shown.append(("model", names.model(provider, model)))
    if asked.project:
        shown.append(("project", names.project(asked.project)))
    return [
        Link(label, _query({one: text for one, text in kept.items() if one != name}))
        for name, label in shown
    ]


def _query(kept: dict[str, str]) -> str:
    query = QueryDict(mutable=True)
    query.update({name: kept[name] for name in _NAMES if name in kept})
    return f"?{query.urlencode()}"
