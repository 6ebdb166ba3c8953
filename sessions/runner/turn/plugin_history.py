"""What plugins make of the history before a model reads it. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue, object_of
from opencode_web.lib.text import clean_text
from providers.llm.messages import Message, ModelRef
from sessions.events.parts import AnyPart, FilePart, TextPart, ToolCompleted, ToolFailed, ToolPart
from sessions.models import Message as Row
from sessions.runner.compaction.context_window import usable_tokens
from sessions.runner.context.epoch import ContextUpdate, sent_updates
from sessions.runner.log.model_history import HistoryEntry, to_messages
from sessions.runner.log.steps import ProviderTurn

MAX_BYTES = 8 * 1024 * 1024
_MAX_ADDED = 100


class NotTaken(ValueError):
    """What plugins left of the history cannot be sent. Says why."""


@dataclass(frozen=True)
class ShownHistory:
    """The history of a request, and what is needed to build its messages again.

    `prompt_id` is the message that is answered, `behind` what stands behind the history.
    """

    entries: tuple[HistoryEntry, ...]
    prompt_id: str
    ref: ModelRef
    room: int | None
    updates: tuple[ContextUpdate, ...]
    behind: tuple[Message, ...]

    def to_json(self) -> JsonObject:
        """Returns: the history as plugins know it. What is in files is left out."""
        return {
            "messages": [
                {"info": one.row.data, "parts": [_shown(part) for part in one.parts]}
                for one in self.entries
            ]
        }

    @property
    def built(self) -> tuple[Message, ...]:
        """The messages of the request."""
        return self._built(self.entries)

    def _built(self, entries: Iterable[HistoryEntry]) -> tuple[Message, ...]:
        messages = to_messages(entries, self.ref, self.updates, room=self.room)
        return (*messages, *self.behind)

    def with_parts(self, message_id: str, changed: Iterable[AnyPart]) -> ShownHistory:
        """Returns: the same with parts of a message in the place of those that they were, or
        behind them."""
        entries = []
        for one in self.entries:
            if one.row.pk == message_id:
                left = {part.id: part for part in (*one.parts, *changed)}
                one = replace(one, parts=list(left.values()))
            entries.append(one)
        return replace(self, entries=tuple(entries))

    def entry(self, message_id: str) -> HistoryEntry:
        """Returns: the message with this id, which there must be."""
        return next(one for one in self.entries if one.row.pk == message_id)

    def messages(self, left: JsonObject) -> tuple[Message, ...]:
        """Build the messages again from what plugins left of `to_json`. Raises: NotTaken."""
        entries = list(_taken(self.entries, left.get("messages")))
        if self.prompt_id not in {one.row.pk for one in entries}:
            raise NotTaken("The message that is to be answered is missing.")
        return self._built(entries)


def shown_history(turn: ProviderTurn) -> ShownHistory | None:
    """Returns: what the request of a turn was built from; None when it was built otherwise."""
    request, session = turn.request, turn.session
    entries = tuple(one for one in turn.history if one.row.pk != turn.info.id)
    updates = sent_updates(session)
    room = usable_tokens(request.model.limit, turn.setup.config.compaction)
    built = to_messages(entries, request.model.ref, updates, room=room)
    if request.messages[: len(built)] != built:
        return None
    behind = request.messages[len(built) :]
    return ShownHistory(entries, turn.info.parentID, request.model.ref, room, updates, behind)


def _shown(part: AnyPart) -> JsonObject:
    if isinstance(part, FilePart) and part.url.startswith("data:"):
        return {**part.to_json(), "url": part.url.partition(",")[0] + ","}
    return part.to_json()


def _taken(known: Iterable[HistoryEntry], given: JsonValue) -> Iterable[HistoryEntry]:
    """Messages stay in their order; those that are new say something in a person's place."""
    if not isinstance(given, list):
        raise NotTaken("There is no list of messages.")
    ahead = {one.row.pk: (place, one) for place, one in enumerate(known)}
    place, seq, added = -1, 0, 0
    for one in given:
        if not isinstance(one, dict):
            raise NotTaken("A message is no object.")
        info, parts = object_of(one, "info"), one.get("parts")
        if not isinstance(parts, list):
            raise NotTaken("A message has no list of parts.")
        found = ahead.get(str(info.get("id")))
        if found is None:
            added += 1
            if info.get("role") != "user" or added > _MAX_ADDED:
                raise NotTaken("Only messages of the role user can be added, and at most 100.")
            row = Row(id=new_id("msg"), role="user", seq=seq, data={})
            yield HistoryEntry(row, list(_texts(row.pk, parts)))
            continue
        if found[0] <= place:
            raise NotTaken("The messages are in another order.")
        place, entry = found
        seq = entry.row.seq
        yield replace(entry, parts=list(_parts(entry, parts)))


def _parts(entry: HistoryEntry, given: list[JsonValue]) -> Iterable[AnyPart]:
    known = {part.id: part for part in entry.parts}
    for one in given:
        part = known.pop(str(one.get("id")), None) if isinstance(one, dict) else None
        if part is not None and isinstance(one, dict):
            yield _changed(part, one)
        elif entry.is_prompt:
            yield from _texts(entry.row.pk, [one])


def _changed(part: AnyPart, given: JsonObject) -> AnyPart:
    """Texts may be others, and what tools have said; what was called stays as it was."""
    if isinstance(part, TextPart):
        return part.model_copy(update={"text": _text(given.get("text"))})
    if not isinstance(part, ToolPart):
        return part
    state, left = part.state, object_of(given, "state")
    if isinstance(state, ToolCompleted):
        state = state.model_copy(update={"output": _text(left.get("output"))})
    elif isinstance(state, ToolFailed):
        state = state.model_copy(update={"error": _text(left.get("error"))})
    return part.model_copy(update={"state": state})


def _texts(message_id: str, given: Iterable[JsonValue]) -> Iterable[TextPart]:
    for one in given:
        if isinstance(one, dict) and one.get("type") == "text":
            text = _text(one.get("text"))
            yield TextPart(id=new_id("prt"), sessionID="", messageID=message_id, text=text)


def _text(value: JsonValue) -> str:
    if not isinstance(value, str) or len(value) > MAX_BYTES:
        raise NotTaken("A text is missing or too long.")
    return clean_text(value)
