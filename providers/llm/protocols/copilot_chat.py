"""Chat Completions as GitHub Copilot serves them to models that have no other wire there.

Thinking comes with a seal (`reasoning_opaque`), which stands on the message, on its calls and on
their results when it goes back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..events import StreamEvent
from ..families.ids import is_claude
from ..json import JsonObject, JsonValue
from ..limits import output_option
from ..messages import (
    AssistantMessage,
    ProviderRequest,
    Reasoning,
    ToolCall,
)
from ..repairs import replace_unreadable_files
from .chat import Chat, ChatDecoder, Dialect
from .turns import facts_of, with_some_tool

NAMESPACE = "copilot"
_SEAL = "reasoningOpaque"
_MARK: JsonObject = {"type": "ephemeral"}
_MARK_FIELD = "copilot_cache_control"


class CopilotChat(Chat):
    """Claude has cache marks; models of OpenAI are not limited."""

    def __init__(self) -> None:
        super().__init__(
            Dialect(
                reasoning_field=None,
                usage_on_demand=False,
                keeps_unknown_options=False,
                option_names={"thinking_budget": "thinking_budget"},
            )
        )

    def decoder(self, request: ProviderRequest) -> CopilotDecoder:
        """Returns: a reader of the answer."""
        return CopilotDecoder()

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body. Documents are not taken, whatever the model itself could read."""
        request = with_some_tool(request)
        model = request.model
        readable = model.capabilities.input & {"text", "image"}
        capabilities = replace(model.capabilities, input=readable)
        request = replace(request, model=replace(model, capabilities=capabilities))
        return super().encode(replace_unreadable_files(request))

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        is_asked = request.max_output_tokens or output_option(request.model.options)
        if "gpt" in request.model.api_model and not is_asked:
            controls.pop("max_tokens", None)
        return controls

    def messages(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the system's text and the conversation."""
        messages = super().messages(request)
        seals: dict[JsonValue, JsonValue] = {}
        for message in messages:
            assert isinstance(message, dict)
            for call in _calls(message):
                if _SEAL in call:
                    seals[str(call["id"])] = call[_SEAL]
            if seal := seals.get(message.get("tool_call_id")):
                message[_SEAL] = seal
        if is_claude(request.model.api_model):
            _mark(messages)
        return messages

    def assistant(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: what the model has said; without a text it is null."""
        wire = super().assistant(message, request)
        return {**wire, "content": wire["content"] or None}

    def call(self, call: ToolCall) -> JsonObject:
        """Returns: a call that the model has made, with its seal."""
        wire = super().call(call)
        seal = _seal_of(call.metadata)
        return {**wire, _SEAL: seal} if seal else wire

    def reasoning(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: the thinking and its seal; nothing without one, as of another vendor's."""
        seals = (_seal_of(part.metadata) for part in message.content)
        seal = next((one for one in seals if one), None)
        if seal is None:
            return {}
        text = "".join(part.text for part in message.content if isinstance(part, Reasoning))
        return {**({"reasoning_text": text} if text else {}), "reasoning_opaque": seal}


class CopilotDecoder(ChatDecoder):
    """The seal comes after the thinking and before what follows from it."""

    def __init__(self) -> None:
        super().__init__()
        self._seal = ""
        self._is_used = False
        self._is_thinking = False
        self._is_talking = False

    def feed_delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """Yield the events of one delta."""
        if isinstance(seal := delta.get("reasoning_opaque"), str) and seal:
            self._seal = seal
        if isinstance(thought := delta.get("reasoning_text"), str) and thought:
            yield from self._end_text()
            self._is_thinking = True
            yield from self.blocks.reasoning(thought)
        if isinstance(content := delta.get("content"), str) and content:
            yield from self._end_thinking()
            self._is_talking = True
            yield from self.blocks.text(content)
        for call in delta.get("tool_calls") or ():
            yield from self._end_thinking()
            yield from self._end_text()
            yield from super().feed_delta({"tool_calls": [call]})
            if (mark := self._use_seal()) and self.blocks.is_open(self._call):
                self.blocks.mark_call(self._call, mark)

    def close(self) -> Iterator[StreamEvent]:
        """Yield what is still held back."""
        yield from self._end_thinking()
        yield from self._end_text()
        if self._seal and not self._is_used:
            yield from self.blocks.end_reasoning(self._use_seal())

    def _end_thinking(self) -> Iterator[StreamEvent]:
        if self._is_thinking:
            self._is_thinking = False
            yield from self.blocks.end_reasoning(self._use_seal())

    def _end_text(self) -> Iterator[StreamEvent]:
        if self._is_talking:
            self._is_talking = False
            yield from self.blocks.end_text(self._use_seal())

    def _use_seal(self) -> JsonObject | None:
        self._is_used = self._is_used or bool(self._seal)
        return {NAMESPACE: {_SEAL: self._seal}} if self._seal else None


def _seal_of(metadata: JsonObject | None) -> JsonValue:
    return facts_of(metadata, NAMESPACE).get(_SEAL)


def _calls(message: JsonObject) -> list[JsonObject]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _mark(messages: list[JsonValue]) -> None:
    """Mark the system's text and the last two turns; the results of one step are one of them."""
    turns: list[JsonObject] = []
    for message in messages:
        assert isinstance(message, dict)
        if message["role"] == "system":
            message[_MARK_FIELD] = _MARK
        elif turns and message["role"] == turns[-1]["role"] == "tool":
            turns[-1] = message
        else:
            turns.append(message)
    for turn in turns[-2:]:
        _mark_turn(turn)


def _mark_turn(turn: JsonObject) -> None:
    content = turn.get("content")
    if turn["role"] == "assistant":
        # Its text takes no mark.
        if calls := _calls(turn):
            calls[-1][_MARK_FIELD] = _MARK
    elif isinstance(content, list) and content and isinstance(content[-1], dict):
        content[-1][_MARK_FIELD] = _MARK
    else:
        turn[_MARK_FIELD] = _MARK
