"""The parts of an answer as the items of its turn: texts, folded exploration, tool rows, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from opencode_web.lib.markdown import closed_chars, render_markdown
from providers.llm.retry import MAX_TRIES
from sessions.events.reasons import TurnReason
from sessions.events.stored import (
    StoredAnswer,
    StoredPart,
    StoredReasoning,
    StoredRetry,
    StoredText,
)
from sessions.models import Message, Part
from sessions.present.conversation.counts import looks_of
from sessions.present.conversation.decisions import Decisions
from sessions.present.conversation.faults import ErrorView, build_fault
from sessions.present.conversation.named_files import NamedFiles
from sessions.present.conversation.plugin_notes import plugin_sentence
from sessions.present.conversation.subagent_work import FindBelow, nothing_below
from sessions.present.conversation.tools import EXPLORING, ToolRow, build_tool_row
from sessions.present.data import duration_of, moment_of
from sessions.present.place import Place
from sessions.present.stored_text import error_text

_NO_TRIES = (TurnReason.FILES_REFUSED, TurnReason.FILES_UNREADABLE, TurnReason.FELL_BACK)


@dataclass(frozen=True)
class TextView:
    """A text or reasoning part. `closed`: characters that `html` stands for; `tail` is the rest."""

    id: str
    html: SafeString
    tail: str
    length: int
    closed: int
    streaming: bool
    since: datetime | None
    duration_s: float | None
    open: bool = False


class GrowingText(NamedTuple):
    """Text that has arrived, and how much of it belongs to finished blocks."""

    text: str
    closed: int


@dataclass(frozen=True)
class RetryView:
    """The newest attempt of several in a row, under the id of the first."""

    id: str
    attempt: int
    message: str
    now_url: str
    # What was wrong, files, a model or plugins, is left out now, so it is no try of many.
    left_out: bool = False
    tries: int = MAX_TRIES


@dataclass(frozen=True)
class Group:
    """Consecutive read-only calls, collapsed into one line."""

    id: str
    running: bool
    text: str
    duration_s: float | None
    rows: list[ToolRow]
    open: bool = False
    failed: bool = False


PartView = TextView | RetryView | ErrorView


@dataclass(frozen=True)
class Item:
    """One child of a turn's parts; exactly one of the views is set."""

    template: str
    # The parts it is made of: whoever changes one of them changes this item.
    sources: frozenset[str]
    part: PartView | None = None
    row: ToolRow | None = None
    group: Group | None = None


@dataclass(frozen=True)
class RenderContext:
    """What an item depends on besides its own parts."""

    place: Place
    # By (message id, call id) of calls that wait for a person, for whom.
    waiting: Mapping[tuple[str, str], str] = field(default_factory=dict)
    # What people have answered before.
    decisions: Decisions = field(default_factory=dict)
    # Text that has arrived but may not be in the rows yet, by part id.
    growing: Mapping[str, GrowingText] = field(default_factory=dict)
    below: FindBelow = nothing_below
    # Whose prompt the items answer; empty where nobody's name is known.
    author: str = ""
    # The agent that writes the prompts of a sub-agent; empty in a session of people.
    caller: str = ""
    # From the ids of a provider and a model.
    model_name: Callable[[str, str], str] = lambda _provider, model: model
    # The page of a file that a text names; empty for any other word.
    page_of: Callable[[str], str] = lambda _name: ""
    # Whether models were used whose price nobody knows: nothing then need not mean free.
    is_partly_unpriced: bool = False


def build_items(
    answers: Iterable[tuple[Message, list[Part]]], context: RenderContext
) -> list[Item]:
    """Returns: the items of a turn in their order."""
    items: list[Item] = []
    for kind, run in groupby(_flatten(answers, context), key=_kind_of):
        found = list(run)
        if items:
            items[-1] = _followed(items[-1], found[0])
        if kind == "exploring":
            items.append(_fold([item.row for item in found if item.row is not None]))
        elif kind == "retry":
            items.append(_fold_retries(found))
        else:
            items += found
    return items


def _kind_of(item: Item) -> str:
    if item.row is not None and item.row.tool in EXPLORING:
        return "exploring"
    return "retry" if isinstance(item.part, RetryView) and not item.part.left_out else ""


def _followed(item: Item, after: Item) -> Item:
    """Nothing is waited for once something came after it."""
    if not isinstance(item.part, RetryView):
        return item
    sources = item.sources | after.sources
    return replace(item, sources=sources, part=replace(item.part, now_url=""))


def _fold_retries(items: list[Item]) -> Item:
    first, last = items[0].part, items[-1].part
    assert isinstance(first, RetryView)
    assert isinstance(last, RetryView)
    sources = frozenset[str]().union(*(item.sources for item in items))
    return replace(items[-1], sources=sources, part=replace(last, id=first.id))


def _flatten(
    answers: Iterable[tuple[Message, list[Part]]], context: RenderContext
) -> Iterator[Item]:
    named = NamedFiles(context.place)
    context = replace(context, page_of=named.page_of)
    for message, parts in answers:
        for part in parts:
            item = build_item(part.data, context)
            if item is not None:
                yield item
        answer: StoredAnswer = message.data
        if "error" in answer:
            fault = build_fault(message.pk, answer["error"], context.place)
            yield Item("sessions/parts/_error.html", frozenset({message.pk}), part=fault)
        named.add(parts)


def build_item(part: StoredPart, context: RenderContext) -> Item | None:
    """Returns: None for parts that are not shown by themselves."""
    part_id = part["id"]
    match part["type"]:
        case "text" if not part.get("synthetic") and not part.get("ignored"):
            return _item("text", part_id, part=build_text(part, context))
        case "reasoning":
            return _item("reasoning", part_id, part=build_text(part, context))
        case "tool":
            call = (part["messageID"], part["callID"])
            row = build_tool_row(
                part,
                context.place,
                waiting=context.waiting.get(call, ""),
                decisions=context.decisions.get(call, []),
                below=context.below,
                author=context.author,
            )
            return _item("subagent" if row.open_url else "tool", part_id, row=row)
        case "retry":
            return _item("retry", part_id, part=_retry(part, context.place))
        case "step-start":
            return _notes(part_id, part.get("plugins"))
    return None


def prompt_notes(parts: Iterable[Part]) -> list[Item]:
    """Returns: what plugins did to a message, below it."""
    found = (_notes(one.pk, one.data.get("metadata", {}).get("plugins")) for one in parts)
    return [item for item in found if item is not None]


def _notes(part_id: str, notes: object) -> Item | None:
    if not (said := plugin_sentence(notes)):
        return None
    view = RetryView(part_id, attempt=0, message=said, now_url="", left_out=True)
    return _item("retry", part_id, part=view)


def _item(
    name: str, part_id: str, part: PartView | None = None, row: ToolRow | None = None
) -> Item:
    return Item(f"sessions/parts/_{name}.html", frozenset({part_id}), part=part, row=row)


def build_text(part: StoredText | StoredReasoning, context: RenderContext) -> TextView:
    """While it grows, the finished blocks are rendered and the rest is raw text."""
    part_id, text, time = part["id"], part["text"], part.get("time")
    streaming = time is not None and "end" not in time
    known = context.growing.get(part_id) if streaming else None
    if known is not None and len(known.text) >= len(text):
        text, closed = known
    else:
        closed = closed_chars(text) if streaming else len(text)
    page_of = None if streaming or part["type"] != "text" else context.page_of
    return TextView(
        id=part_id,
        html=render_markdown(text[:closed], page_of) if closed else SafeString(""),
        tail=text[closed:],
        length=len(text),
        closed=closed,
        streaming=streaming,
        since=moment_of(time["start"]) if time else None,
        duration_s=duration_of(time),
    )


def _retry(part: StoredRetry, place: Place) -> RetryView:
    data = part["error"]["data"]
    return RetryView(
        id=part["id"],
        attempt=part["attempt"],
        message=_sentence(error_text(data)),
        now_url=place.url("retry_now"),
        left_out=data.get("reason") in _NO_TRIES,
    )


def _sentence(text: str) -> str:
    text = text.rstrip()
    return text if not text or text.endswith((".", "!", "?", "…")) else f"{text}."


def _fold(rows: list[ToolRow]) -> Item:
    running = any(row.state in ("pending", "running") for row in rows)
    times = [row.duration_s for row in rows if row.duration_s is not None]
    group = Group(
        id=rows[0].id,
        running=running,
        text=rows[-1].object.removeprefix(".") if running else _counts(rows),
        duration_s=sum(times) if times and not running else None,
        rows=[replace(row, open=False) for row in rows],
        open=any(row.note for row in rows),
        failed=not running and any(row.state == "error" for row in rows),
    )
    sources = frozenset(row.id for row in rows)
    return Item("sessions/_explored.html", sources, group=group)


def _counts(rows: list[ToolRow]) -> str:
    """Returns: such as `3 reads, 1 search`."""
    counts = Counter("grep" if row.tool == "glob" else row.tool for row in rows)
    failed = sum(row.state == "error" for row in rows)
    words = [looks_of(tool, count) for tool, count in counts.items()]
    return ", ".join([*words, _("%(failed)s failed") % {"failed": failed}] if failed else words)
