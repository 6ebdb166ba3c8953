"""Context Epochs: what the model of a session was told, kept so that every request repeats it.

    context = prepare_context(session, inputs)
    append(session, [*context.events, …])

An epoch's baseline is rendered once and stored. At each safe boundary the sources are observed and
compared with what the model knows; what differs becomes one durable message at that place in the
conversation. So each request of an epoch begins with the bytes of the one before.
Source: FEAT-0001 FR-03, FR-07, FR-08, NFR-02; behaviour facts 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.events.context import ContextUpdated, EpochEnded, EpochReason, EpochStarted
from sessions.events.projectors.context import find_epoch
from sessions.events.store import append
from sessions.events.types import SessionEvent
from sessions.models import ContextEpoch, Session
from sessions.runner.context.registry import (
    Incompatible,
    all_sources,
    missing_pages,
    observe,
    render_baseline,
    render_changes,
)
from sessions.runner.context.source import ContextInputs, Source
from sessions.secrets import key_redactor

# All messages of an epoch together. Beyond it a fresh baseline costs less than going on.
MAX_UPDATE_CHARS = 96 * 1024


@dataclass(frozen=True)
class ContextUpdate:
    """A Mid-Conversation System Message. `seq` is its place among the messages of the session."""

    seq: int
    text: str


@dataclass(frozen=True)
class Context:
    """What a request contains besides the conversation.

    `events` is what is new about it; they must be the first that are appended to the session now.
    `missing` are pages that have to be fetched first; the rest then says nothing.
    """

    system: tuple[str, ...]
    updates: tuple[ContextUpdate, ...]
    events: tuple[SessionEvent, ...]
    missing: tuple[str, ...] = ()


def prepare_context(
    session: Session,
    inputs: ContextInputs,
    *,
    sources: Sequence[Source[Any]] | None = None,
    fetches: bool = True,
) -> Context:
    """Compare the epoch of a locked session with its sources, or begin one. One query.

    `fetches` is whether the caller can fetch missing pages; else they wait for a later boundary.
    """
    row = find_epoch(session.pk)
    holds = row is not None and not row.ended
    known = row.snapshot if row is not None and holds else {}
    missing = missing_pages(inputs, known)
    if missing and fetches:
        return Context((), (), (), missing=tuple(missing))
    sources = all_sources(inputs, known) if sources is None else sources
    if row is None or not holds:
        reason = cast(EpochReason, row.ended) if row is not None else "start"
        return _begin(session, inputs, reason, sources)
    try:
        return _go_on(session, row, inputs, sources)
    except Incompatible as exc:
        return _begin(session, inputs, "move" if exc.moved else "incompatible", sources)


def sent_updates(session: Session) -> tuple[ContextUpdate, ...]:
    """Returns: those of the epoch in force. One query."""
    row = find_epoch(session.pk)
    return _updates(row) if row is not None else ()


def _updates(row: ContextEpoch) -> tuple[ContextUpdate, ...]:
    return tuple(ContextUpdate(one["seq"], one["text"]) for one in row.updates if one["text"])


def _go_on(
    session: Session, row: ContextEpoch, inputs: ContextInputs, sources: Sequence[Source[Any]]
) -> Context:
    values = _shown(session, observe(inputs, row.snapshot, sources=sources))
    text = render_changes(row.snapshot, values, sources=sources)
    updates = _updates(row)
    if values == row.snapshot:
        return Context(tuple(row.baseline), updates, ())
    if sum(len(one.text) for one in updates) + len(text) > MAX_UPDATE_CHARS:
        return _start("length", values, sources)
    event = ContextUpdated(
        id=new_id("msg"),
        text=text,
        changed={key: value for key, value in values.items() if row.snapshot.get(key) != value},
        removed=sorted(row.snapshot.keys() - values.keys()),
    )
    # It is the next entry of the log, so it stands behind all messages that there are.
    newest = (ContextUpdate(session.seq + 1, text),) if text else ()
    return Context(tuple(row.baseline), (*updates, *newest), (event,))


def _begin(
    session: Session,
    inputs: ContextInputs,
    reason: EpochReason,
    sources: Sequence[Source[Any]],
) -> Context:
    return _start(reason, _shown(session, observe(inputs, {}, sources=sources)), sources)


def _shown(session: Session, values: JsonObject) -> JsonObject:
    """What a model reads of it is what is kept of it."""
    return key_redactor(session.project).json(values, keys=False)


def _start(reason: EpochReason, values: JsonObject, sources: Sequence[Source[Any]]) -> Context:
    baseline = render_baseline(values, sources=sources)
    event = EpochStarted(reason=reason, baseline=baseline, snapshot=values)
    return Context(tuple(baseline), (), (event,))


def replace_epoch(session: Session, *, reason: EpochReason) -> None:
    """End the epoch of a locked session: its next provider turn begins another.

    That one has a fresh baseline, and the messages of this one in mid-conversation are no longer
    part of the history. For a session without an epoch it does nothing.
    """
    if ContextEpoch.objects.filter(session=session, ended="").exists():
        append(session, [EpochEnded(reason=reason)])
