"""What a session used: tokens by kind and model, cost, and how full its model's context is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import money
from sessions.config.cost_limit import load_cost_limit
from sessions.config.effective import model_names
from sessions.events.stored import StoredAnswer, StoredTokens
from sessions.models import Compaction, Message, Session
from sessions.present.data import moment_of
from sessions.present.sessions import Header, build_header
from sessions.totals import used_below
from teams.budgets import Scope, Standing, hard, load_standings
from teams.models import Period

_SHOWN_COMPACTIONS = 20


@dataclass(frozen=True)
class Count:
    """Units: tokens. `input` is without the cache, `output` without reasoning."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @classmethod
    def of(cls, tokens: StoredTokens) -> Count:
        """`tokens` as a message or a session has them."""
        cache = tokens.get("cache", {})
        return cls(
            input=tokens.get("input", 0),
            output=tokens.get("output", 0),
            reasoning=tokens.get("reasoning", 0),
            cache_read=cache.get("read", 0),
            cache_write=cache.get("write", 0),
        )

    def __add__(self, other: Count) -> Count:
        sums = (getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        return Count(*sums)

    @property
    def total(self) -> int:
        return sum(getattr(self, one.name) for one in fields(self))


@dataclass(frozen=True)
class ContextSlice:
    """A stretch of the bar. Units: `start` and `width` in percent of all tokens."""

    name: str
    label: str
    tokens: int
    start: float
    width: float


@dataclass(frozen=True)
class ModelUse:
    """`ref` is `provider/model`."""

    ref: str
    name: str
    answers: int
    count: Count
    cost: Decimal
    is_unknown: bool = False


@dataclass(frozen=True)
class CompactionView:
    time: datetime | None
    before: int
    after: int
    in_vain: bool


@dataclass(frozen=True)
class BudgetView:
    """Units: USD, for the session and its sub-agents together; `percent` is 0 to 100."""

    spent: Decimal
    limit: Decimal
    left: Decimal
    percent: int


@dataclass(frozen=True)
class ContextView:
    session: Header
    count: Count
    kinds: list[ContextSlice]
    models: list[ModelUse]
    compactions: list[CompactionView]
    budget: BudgetView | None
    # What is left for the team, the project and the reader: labels and texts.
    funds: list[tuple[str, str]]


def load_context(session: Session, reader_id: int) -> ContextView:
    """`session.project.team` should be loaded. The sub-agents' share is in the header only."""
    count = Count.of(session.tokens)
    return ContextView(
        session=build_header(session, used_below(session)),
        count=count,
        kinds=_kinds(count),
        models=_models(session),
        compactions=_compactions(session),
        budget=_budget(session),
        funds=_funds(session, reader_id),
    )


def _funds(session: Session, reader_id: int) -> list[tuple[str, str]]:
    """What is left of the server's budgets is nothing that members of a team may know."""
    labels = {
        Scope.TEAM: _("Left for the team"),
        Scope.MEMBER: _("Left for you"),
        Scope.PROJECT: _("Left for the project"),
    }
    standings = hard(load_standings(session.project.team, reader_id, session.project_id))
    return [(labels[one.scope], _left(one)) for one in standings if one.scope in labels]


def _left(one: Standing) -> str:
    values = {
        "left": money(one.left),
        "limit": money(one.limit),
        "percent": one.percent,
        "since": date_format(one.period.first_day(), "DATE_FORMAT"),
    }
    if one.period == Period.MONTH:
        return _("%(left)s of %(limit)s this month (%(percent)s %% spent)") % values
    return _("%(left)s of %(limit)s since %(since)s (%(percent)s %% spent)") % values


def _kinds(count: Count) -> list[ContextSlice]:
    labels = (
        ("input", _("Input"), count.input),
        ("cache-read", _("Cache read"), count.cache_read),
        ("cache-write", _("Cache write"), count.cache_write),
        ("output", _("Output"), count.output),
        ("reasoning", _("Reasoning"), count.reasoning),
    )
    found: list[ContextSlice] = []
    start = 0.0
    for name, label, tokens in labels:
        width = 100 * tokens / count.total if count.total else 0.0
        found.append(ContextSlice(name, label, tokens, round(start, 2), round(width, 2)))
        start += width
    return found


def _models(session: Session) -> list[ModelUse]:
    answers = Message.objects.filter(session=session, role="assistant")
    found: dict[str, ModelUse] = {}
    named = model_names(session.project)
    for data in _with_tokens(answers.values_list("data", flat=True).iterator()):
        ids = data["providerID"], data["modelID"]
        ref = "/".join(ids)
        use = found.get(ref) or ModelUse(ref, named(*ids), 0, Count(), Decimal(0))
        count = use.count + Count.of(data.get("tokens", {}))
        cost = use.cost + _cost(data)
        found[ref] = replace(use, answers=use.answers + 1, count=count, cost=cost)
    used = [replace(use, is_unknown=_is_unknown(session, use.cost)) for use in found.values()]
    return sorted(used, key=attrgetter("cost", "answers"), reverse=True)


def _is_unknown(session: Session, cost: Decimal) -> bool:
    """Whether nothing may mean that nobody knows: no answer says why it has cost nothing."""
    return session.is_partly_unpriced and not cost


def _with_tokens(rows: Iterable[StoredAnswer]) -> Iterable[StoredAnswer]:
    """Answers that no model has given any part of used nothing."""
    return (data for data in rows if Count.of(data.get("tokens", {})).total or _cost(data))


def _cost(data: StoredAnswer) -> Decimal:
    return Decimal(str(data.get("cost", 0)))


def _compactions(session: Session) -> list[CompactionView]:
    rows = Compaction.objects.filter(session=session).select_related("message").order_by("-seq")
    return [
        CompactionView(
            moment_of(row.message.data["time"]["created"]),
            row.tokens_before,
            row.tokens_after,
            row.in_vain,
        )
        for row in rows[:_SHOWN_COMPACTIONS]
    ]


def _budget(session: Session) -> BudgetView | None:
    found = load_cost_limit(session)
    if found is None:
        return None
    left = max(found.limit - found.spent, Decimal(0))
    percent = min(100, round(100 * found.spent / found.limit))
    return BudgetView(found.spent, found.limit, left, percent)
