"""The reasoning that OpenRouter passes on: a text to show, and details that go back as they came.

Source: https://openrouter.ai/docs/use-cases/reasoning-tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..events import StreamEvent
from ..json import JsonObject, JsonValue
from ..messages import AssistantContent
from ..protocols.billed import of_openrouter
from ..protocols.chat import ChatDecoder
from ..protocols.fields import list_at
from ..protocols.turns import facts_of

# Whose models read a form, by how their ids begin; forms that are not here go to all.
_READERS = {
    "anthropic-claude-v1": "anthropic/",
    "google-gemini-v1": "google/",
    "openai-responses-v1": "openai/",
    "xai-responses-v1": "x-ai/",
}
# OpenRouter's own models choose one themselves.
_CHOOSERS = "openrouter/"
# Forms whose vendors refuse thinking that they have not signed.
_SIGNED_FORMATS = frozenset({"google-gemini-v1", "anthropic-claude-v1"})
# What tells that a detail has been sent before, by its type. Pieces of a summary may be alike.
_KEYS = {
    "reasoning.encrypted": ("id", "data"),
    "reasoning.text": ("text", "signature"),
}
_TOLD = frozenset({"reasoning", "reasoning_content", "reasoning_details"})


class OpenRouterDecoder(ChatDecoder):
    """Keeps the details of the thinking with the block they belong to."""

    def __init__(self) -> None:
        super().__init__(billed=of_openrouter)
        self._details: list[JsonValue] = []

    def feed_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of one delta."""
        for detail in delta.get("reasoning_details") or ():
            if isinstance(detail, dict):
                self._keep(detail)
        content = delta.get("content")
        if delta.get("tool_calls") or (isinstance(content, str) and content):
            # Thinking that came in the same piece is still before it.
            yield from self.feed_reasoning(delta)
            yield from self.close()
            delta = {name: value for name, value in delta.items() if name not in _TOLD}
        yield from super().feed_delta(delta)

    def feed_reasoning(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of the reasoning in a delta."""
        text = delta.get("reasoning") or delta.get("reasoning_content")
        if not text:
            details = delta.get("reasoning_details") or ()
            text = "".join(str(one.get("text") or one.get("summary") or "") for one in details)
        if isinstance(text, str) and text:
            yield from self.blocks.reasoning(text)

    def close(self) -> Iterator[StreamEvent]:
        """Yield the end of the thinking, with its details."""
        if self._details:
            yield from self.blocks.end_reasoning(
                {"openrouter": {"reasoning_details": self._details}}
            )
            self._details = []

    def _keep(self, detail: JsonObject) -> None:
        """Join the pieces of one text; its signature comes with the last of them."""
        last = self._details[-1] if self._details else None
        if not isinstance(last, dict) or not _continues(last, detail):
            self._details.append(dict(detail))
            return
        text = f"{last.get('text') or ''}{detail.get('text') or ''}"
        named = {name: value for name, value in detail.items() if value is not None}
        self._details[-1] = {**last, **named, "text": text}


def _continues(last: JsonObject, detail: JsonObject) -> bool:
    both_text = last.get("type") == detail.get("type") == "reasoning.text"
    return both_text and last.get("index") == detail.get("index") and not last.get("signature")


def details_of(part: AssistantContent) -> list[JsonObject]:
    """Returns: the details that came with a part; none for other vendors' parts."""
    details = list_at(facts_of(part.metadata, "openrouter"), "reasoning_details")
    return [detail for detail in details if isinstance(detail, dict)]


def is_accepted(detail: JsonObject, model_id: str) -> bool:
    """Whether the vendor of a model takes it back."""
    form = str(detail.get("format"))
    if not model_id.startswith((_READERS.get(form, ""), _CHOOSERS)):
        return False
    is_signed = detail.get("type") != "reasoning.text" or bool(detail.get("signature"))
    return is_signed or form not in _SIGNED_FORMATS


def drop_repeated(messages: list[JsonObject]) -> None:
    """The vendors behind it refuse a detail that comes twice in a conversation."""
    seen: set[str | None] = set()
    for message in messages:
        details = message.get("reasoning_details")
        if not isinstance(details, list):
            continue
        fresh: list[JsonValue] = []
        for detail in details:
            key = _key(detail)
            if key is None or key not in seen:
                fresh.append(detail)
            seen.add(key)
        message["reasoning_details"] = fresh
        if not fresh:
            message.pop("reasoning", None)


def _key(detail: JsonValue) -> str | None:
    if not isinstance(detail, dict):
        return None
    names = _KEYS.get(str(detail.get("type")), ())
    return next((str(detail[name]) for name in names if detail.get(name)), None)
