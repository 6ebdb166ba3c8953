"""Reads the answer of a Responses wire: items that begin, grow and are done, one after another."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from ..blocks import Blocks
from ..errors import NetworkError
from ..events import Failed, FinishReason, StreamEvent
from ..framing import StreamError
from ..json import JsonObject, JsonValue
from ..messages import Usage
from ..reasons import ErrorReason
from ..route import Decoder
from .billed import Billed, not_said
from .fields import count_at, list_at, object_at, text_at

_INCOMPLETE = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


@dataclass(slots=True)
class _Item:
    """What has come of one item so far."""

    id: str
    has_grown: bool = False
    part: JsonValue = 0


class ResponsesDecoder(Decoder):
    """Items are told apart by their place: Copilot gives one item another id in every event."""

    def __init__(
        self, namespace: str, *, keeps_item_ids: bool = True, billed: Billed = not_said
    ) -> None:
        self.blocks = Blocks()
        self._namespace = namespace
        self._keeps_item_ids = keeps_item_ids
        self._items: dict[Hashable, _Item] = {}
        self._reason: FinishReason | None = None
        self._is_refused = False
        self._usage = Usage()
        self._read_billed = billed
        self._billed: Decimal | None = None
        self._tier = ""

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame. Raises: StreamError."""
        match frame.get("type"):
            case "response.output_item.added":
                yield from self._begin(frame)
            case "response.output_text.delta" | "response.refusal.delta":
                yield from self._say(frame)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield from self._think(frame)
            case "response.function_call_arguments.delta":
                self._item(frame).has_grown = True
                yield from self.blocks.grow_call(_key(frame), text_at(frame, "delta"))
            case "response.output_item.done":
                yield from self._complete(frame)
            case "response.completed" | "response.done" | "response.incomplete":
                is_cut = frame.get("type") == "response.incomplete"
                self._finish(object_at(frame, "response"), is_cut=is_cut)
            case "response.failed":
                raise StreamError(_failure(object_at(object_at(frame, "response"), "error")))
            case "error":
                raise StreamError(_failure(frame))

    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream."""
        if self._reason is None:
            yield Failed(NetworkError(reason=ErrorReason.ANSWER_CUT))
            return
        yield from self.blocks.finish(self._reason, self._usage, self._billed, self._tier)

    def _item(self, frame: JsonObject) -> _Item:
        return self._items.setdefault(_key(frame), _Item(text_at(frame, "item_id")))

    def _begin(self, frame: JsonObject) -> Iterator[StreamEvent]:
        given = object_at(frame, "item")
        # One whose end was never told.
        yield from self.blocks.end_call(_key(frame))
        self._items[_key(frame)] = _Item(text_at(given, "id"))
        if given.get("type") == "function_call":
            call_id, name = text_at(given, "call_id"), text_at(given, "name")
            yield from self.blocks.start_call(_key(frame), call_id, name)

    def _say(self, frame: JsonObject) -> Iterator[StreamEvent]:
        self._item(frame).has_grown = True
        self._is_refused |= frame.get("type") == "response.refusal.delta"
        yield from self.blocks.text(text_at(frame, "delta"))

    def _think(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Each part of a summary is a block of its own; they have the id of their item."""
        item = self._item(frame)
        part = frame.get("summary_index", frame.get("content_index"))
        if item.has_grown and part != item.part:
            yield from self.blocks.end_reasoning(self._metadata({"itemId": item.id}))
        item.has_grown, item.part = True, part
        yield from self.blocks.reasoning(text_at(frame, "delta"))

    def _complete(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Some gateways send an item only when it is done."""
        given = object_at(frame, "item")
        item = self._items.pop(_key(frame), None) or _Item("")
        item.id = text_at(given, "id") or item.id
        match given.get("type"):
            case "message":
                yield from self._complete_text(given, item)
            case "reasoning":
                yield from self._complete_reasoning(given, item)
            case "function_call":
                yield from self._complete_call(_key(frame), given, item)

    def _complete_text(self, given: JsonObject, item: _Item) -> Iterator[StreamEvent]:
        parts = list(_objects(given, "content"))
        self._is_refused |= any(part.get("type") == "refusal" for part in parts)
        text = "".join(text_at(part, "text") or text_at(part, "refusal") for part in parts)
        if not item.has_grown:
            yield from self.blocks.text(text)
        if item.has_grown or text:
            phase = text_at(given, "phase")
            yield from self.blocks.end_text(self._item_metadata(item, phase=phase))

    def _complete_reasoning(self, given: JsonObject, item: _Item) -> Iterator[StreamEvent]:
        encrypted = text_at(given, "encrypted_content")
        if not item.has_grown:
            for index, part in enumerate(_objects(given, "summary")):
                if index:
                    yield from self.blocks.end_reasoning(self._metadata({"itemId": item.id}))
                item.has_grown = True
                yield from self.blocks.reasoning(text_at(part, "text"))
        if item.has_grown or encrypted:
            fields: JsonObject = {"itemId": item.id, "reasoningEncryptedContent": encrypted}
            yield from self.blocks.end_reasoning(self._metadata(fields))

    def _complete_call(
        self, key: Hashable, given: JsonObject, item: _Item
    ) -> Iterator[StreamEvent]:
        if not self.blocks.is_open(key):
            yield from self.blocks.start_call(
                key, text_at(given, "call_id"), text_at(given, "name")
            )
            item.has_grown = False
        if not item.has_grown:
            yield from self.blocks.grow_call(key, text_at(given, "arguments"))
        yield from self.blocks.end_call(key, self._item_metadata(item))

    def _item_metadata(self, item: _Item, *, phase: str = "") -> JsonObject | None:
        return self._metadata({"itemId": item.id, "phase": phase}) if self._keeps_item_ids else None

    def _metadata(self, fields: JsonObject) -> JsonObject | None:
        """Returns: the fields that say something, under the vendor's name."""
        kept: JsonObject = {name: value for name, value in fields.items() if value}
        return {self._namespace: kept} if kept else None

    def _finish(self, response: JsonObject, *, is_cut: bool) -> None:
        if response.get("status") == "failed":
            raise StreamError(_failure(object_at(response, "error")))
        self._usage = read_usage(object_at(response, "usage"))
        self._billed = self._read_billed(object_at(response, "usage"))
        self._tier = text_at(response, "service_tier")
        self._reason = FinishReason.STOP
        if is_cut or response.get("status") == "incomplete":
            reason = text_at(object_at(response, "incomplete_details"), "reason")
            self._reason = _INCOMPLETE.get(reason, FinishReason.UNKNOWN)
        elif self._is_refused:
            self._reason = FinishReason.CONTENT_FILTER


def read_usage(usage: JsonObject) -> Usage:
    """Split the counts so that no token is in two of them."""
    prompt = object_at(usage, "input_tokens_details")
    read, written = count_at(prompt, "cached_tokens"), count_at(prompt, "cache_write_tokens")
    reasoning = count_at(object_at(usage, "output_tokens_details"), "reasoning_tokens")
    return Usage(
        input_tokens=max(0, count_at(usage, "input_tokens") - read - written),
        output_tokens=max(0, count_at(usage, "output_tokens") - reasoning),
        reasoning_tokens=reasoning,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _failure(error: JsonObject) -> JsonObject:
    """Returns: the error as it stands in the body of an answer.

    A code that nobody knows counts as the vendor's own trouble, which is tried again.
    """
    said: JsonObject = {key: error[key] for key in ("code", "message", "param") if error.get(key)}
    return {"error": {**said, "type": "server_error"}}


def _key(frame: JsonObject) -> Hashable:
    index = frame.get("output_index")
    return index if isinstance(index, int) else text_at(frame, "item_id")


def _objects(fields: JsonObject, name: str) -> Iterator[JsonObject]:
    return (one for one in list_at(fields, name) if isinstance(one, dict))
