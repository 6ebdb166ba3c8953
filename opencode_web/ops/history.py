"""Charts over time of the whole server, from kept samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import duration, money, tokens
from sessions.jobs.samples import add_up, sum_tokens
from sessions.models import ServerSample
from teams.models import Team

_HEIGHT, _STEP = 100, 10
_TEAMS_SHOWN = 10


class Span(StrEnum):
    """How far back the charts go."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    @property
    def label(self) -> str:
        return {"day": _("24 hours"), "week": _("7 days"), "month": _("30 days")}[self]

    @property
    def whole(self) -> timedelta:
        return timedelta(days={"day": 1, "week": 7, "month": 30}[self])

    @property
    def bin(self) -> timedelta:
        """One bar: some fifty fit on a phone."""
        return timedelta(minutes={"day": 30, "week": 4 * 60, "month": 12 * 60}[self])

    @property
    def step_s(self) -> int:
        return ServerSample.MINUTE_S if self is Span.DAY else ServerSample.HOUR_S


@dataclass(frozen=True)
class Bin:
    """Samples of some time as one, None where there is none."""

    start: datetime
    sample: ServerSample | None


@dataclass(frozen=True)
class Bar:
    """Of a chart that is 100 high, from its top."""

    x: int
    y: float
    height: float
    text: str


@dataclass(frozen=True)
class Chart:
    """`most` is the highest bar, `texts` what each bin has in the table, empty for a gap."""

    id: str
    label: str
    most: str
    bars: list[Bar]
    texts: list[str]


@dataclass(frozen=True)
class TeamTokens:
    """`percent` of the tokens of all teams."""

    name: str
    tokens: int
    percent: int


@dataclass(frozen=True)
class History:
    """The page: every chart has the same bins."""

    span: Span
    bins: list[Bin]
    charts: list[Chart]
    teams: list[TeamTokens]

    @property
    def spans(self) -> list[Span]:
        return list(Span)

    @property
    def width(self) -> int:
        return len(self.bins) * _STEP

    @property
    def rows(self) -> list[tuple[datetime, list[tuple[str, str]]]]:
        """Of the table, the newest first: when, and (chart, value) of each."""
        return [
            (one.start, [(chart.label, chart.texts[place]) for chart in self.charts])
            for place, one in reversed(list(enumerate(self.bins)))
            if one.sample is not None
        ]


def samples_of(span: Span, now: datetime | None = None) -> list[ServerSample]:
    """Returns: the kept samples of the span, the oldest first."""
    since = (now or timezone.now()) - span.whole
    rows = ServerSample.objects.filter(step_s=span.step_s, start__gte=since)
    return list(rows.order_by("start"))


def load_history(span: Span) -> History:
    """Two queries, whatever the span."""
    now = timezone.now()
    rows = samples_of(span, now)
    bins = _to_bins(rows, span, now)
    charts = [_chart(bins, *kind) for kind in _kinds()]
    return History(span, bins, charts, _by_team(rows))


def _to_bins(rows: Iterable[ServerSample], span: Span, now: datetime) -> list[Bin]:
    size_s = int(span.bin.total_seconds())
    last = int(now.timestamp()) // size_s
    found: dict[int, list[ServerSample]] = defaultdict(list)
    for row in rows:
        found[int(row.start.timestamp()) // size_s].append(row)
    count = int(span.whole / span.bin)
    return [
        Bin(
            datetime.fromtimestamp(number * size_s, UTC),
            ServerSample(**add_up(found[number])) if number in found else None,
        )
        for number in range(last - count + 1, last + 1)
    ]


_Kind = tuple[str, str, Callable[[ServerSample], float], Callable[[float], str]]


def _kinds() -> list[_Kind]:
    return [
        ("running", _("Running turns"), lambda one: one.running, _number),
        ("queue", _("Longest wait for a worker"), lambda one: one.queue_age_s, _wait),
        ("responses", _("Model responses"), lambda one: one.responses, _number),
        ("failures", _("Failed turns"), lambda one: one.failures, _number),
        (
            "cost",
            _("Spend"),
            lambda one: float(one.cost),
            _money,
        ),
        ("workers", _("Workers"), lambda one: one.workers, _number),
        ("tokens", _("Tokens"), lambda one: sum_tokens([one]).total(), _tokens),
    ]


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _money(value: float) -> str:
    return str(money(Decimal(str(value))))


def _wait(value: float) -> str:
    return str(duration(value))


def _tokens(value: float) -> str:
    return str(tokens(int(value)))


def _chart(
    bins: list[Bin],
    id: str,
    label: str,
    value_of: Callable[[ServerSample], float],
    written: Callable[[float], str],
) -> Chart:
    values = [None if one.sample is None else value_of(one.sample) for one in bins]
    most = max((value for value in values if value is not None), default=0.0)
    bars = []
    for place, (one, value) in enumerate(zip(bins, values, strict=True)):
        if value:
            height = round(max(1.0, value / most * _HEIGHT), 1)
            text = f"{date_format(one.start, 'SHORT_DATETIME_FORMAT')}: {written(value)}"
            bars.append(Bar(place * _STEP, round(_HEIGHT - height, 1), height, text))
    texts = ["" if value is None else written(value) for value in values]
    return Chart(id, label, written(most), bars, texts)


def _by_team(rows: list[ServerSample]) -> list[TeamTokens]:
    total = sum_tokens(rows)
    most = total.most_common(_TEAMS_SHOWN)
    names = dict(Team.objects.filter(pk__in=dict(most)).values_list("pk", "name"))
    found = [
        TeamTokens(names.get(team) or _("Deleted team"), used, round(used / total.total() * 100))
        for team, used in most
    ]
    if rest := total.total() - sum(used for _team, used in most):
        found.append(TeamTokens(_("Other teams"), rest, round(rest / total.total() * 100)))
    return found
