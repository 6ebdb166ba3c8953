"""Mistral's Chat Completions: thinking is a part of the content, and ids have nine characters.

Source: https://docs.mistral.ai/api/; what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

from ..events import StreamEvent
from ..framing import StreamError
from ..json import JsonObject, JsonValue
from ..messages import (
    AssistantMessage,
    File,
    ProviderRequest,
    Reasoning,
    Text,
    Usage,
    UserMessage,
)
from ..protocols.chat import Chat, ChatDecoder, Dialect
from ..protocols.fields import list_at
from ..protocols.turns import facts_of
from ..repairs import rename_calls
from ..route import Route, register
from .compatible import chat_route

_URL = "https://api.mistral.ai/v1"
_ID_CHARS = 9
_OPTION_NAMES = {
    "safePrompt": "safe_prompt",
    "documentImageLimit": "document_image_limit",
    "documentPageLimit": "document_page_limit",
}


class Mistral(Chat):
    """What is sent."""

    def __init__(self) -> None:
        super().__init__(
            Dialect(
                usage_on_demand=False,
                names_results=True,
                joins_prompts=False,
                keeps_unknown_options=False,
                option_names=_OPTION_NAMES,
            )
        )

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        return super().encode(with_short_ids(request))

    def decoder(self, request: ProviderRequest) -> ChatDecoder:
        """Returns: a reader of the answer."""
        return MistralDecoder()

    def tool_choice(self, request: ProviderRequest) -> JsonValue:
        """Returns: whether some tool has to be called."""
        return "any" if request.tool_choice == "required" else request.tool_choice

    def messages(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the conversation; no person speaks right after a tool."""
        messages: list[JsonValue] = []
        for message in super().messages(request):
            if _role(message) == "user" and messages and _role(messages[-1]) == "tool":
                messages.append({"role": "assistant", "content": "Done."})
            messages.append(message)
        return messages

    def user_content(self, message: UserMessage) -> JsonValue:
        """Returns: parts, always."""
        return [
            {"type": "text", "text": part.text} if isinstance(part, Text) else self.file(part)
            for part in message.content
        ]

    def file(self, file: File, *, fallback_name: str = "") -> JsonObject:
        """Returns: a part with a picture or a document."""
        kind = "image_url" if file.is_image else "document_url"
        return {"type": kind, kind: file.data_url}

    def assistant(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: what the model has said; its thinking, if any, comes first."""
        wire = super().assistant(message, request)
        thoughts = [part for part in message.content if isinstance(part, Reasoning) and part.text]
        if thoughts and request.model.capabilities.reasoning:
            pieces: list[JsonValue] = [
                {"type": "text", "text": piece} for part in thoughts for piece in _pieces(part)
            ]
            text: list[JsonValue] = [{"type": "text", "text": wire["content"]}]
            thinking: JsonObject = {"type": "thinking", "thinking": pieces}
            wire["content"] = [thinking, *(text if wire["content"] else [])]
        return wire

    def reasoning(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: nothing, it is in the content."""
        return {}


class MistralDecoder(ChatDecoder):
    """Reads contents that are texts or lists of parts."""

    def __init__(self) -> None:
        super().__init__()
        self._lengths: list[JsonValue] = []

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one chunk. Raises: StreamError."""
        if frame.get("object") == "error":
            raise StreamError(frame)
        yield from super().feed(frame)

    def feed_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of one delta."""
        content = delta.get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "thinking":
                yield from self._feed_thinking(part.get("thinking") or ())
            elif part.get("type") == "text" and part.get("text"):
                yield from self.close()
                yield from self.blocks.text(str(part["text"]))
        if delta.get("tool_calls") or (isinstance(content, str) and content):
            yield from self.close()
        yield from super().feed_delta(delta)

    def close(self) -> Iterator[StreamEvent]:
        """Yield the end of the thinking, with what tells its pieces apart."""
        if self._lengths:
            yield from self.blocks.end_reasoning({"mistral": {"pieces": self._lengths}})
            self._lengths = []

    def read_usage(self, usage: Mapping[str, Any]) -> Usage:
        """Thinking is no number of its own here."""
        read = super().read_usage(usage)
        whole = read.output_tokens + read.reasoning_tokens
        return replace(read, output_tokens=whole, reasoning_tokens=0)

    def _feed_thinking(self, pieces: Iterable[Mapping[str, Any]]) -> Iterator[StreamEvent]:
        for piece in pieces:
            if isinstance(text := piece.get("text"), str) and text:
                self._lengths.append(len(text))
                yield from self.blocks.reasoning(text)


def with_short_ids(request: ProviderRequest) -> ProviderRequest:
    """Give every call an id that Mistral takes, whoever has made it; different ones stay so."""
    taken: dict[str, str] = {}
    return rename_calls(request, lambda call_id: _short_id(call_id, taken))


def _short_id(call_id: str, taken: dict[str, str]) -> str:
    short = re.sub(r"[^A-Za-z0-9]", "", call_id)[:_ID_CHARS].ljust(_ID_CHARS, "0")
    # Ids of other vendors often begin alike.
    if taken.setdefault(short, call_id) != call_id:
        short = hashlib.sha256(call_id.encode()).hexdigest()[:_ID_CHARS]
        taken.setdefault(short, call_id)
    return short


def _pieces(part: Reasoning) -> list[str]:
    """Cut the thinking as it came; what others have thought stays in one piece."""
    given = list_at(facts_of(part.metadata, "mistral"), "pieces")
    lengths = [one for one in given if isinstance(one, int)]
    if sum(lengths) != len(part.text):
        return [part.text]
    return [part.text[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]


def _role(message: JsonValue) -> JsonValue:
    return message.get("role") if isinstance(message, dict) else None


_MISTRAL = Mistral()


def _mistral(request: ProviderRequest) -> Route:
    return chat_route(request, _MISTRAL, _URL)


register("@ai-sdk/mistral", _mistral)
