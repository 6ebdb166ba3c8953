"""The conversation as items of the Responses wire."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import groupby

from ..json import JsonObject, JsonValue, dump
from ..messages import (
    AssistantMessage,
    File,
    Message,
    ProviderRequest,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from .chat import MEDIA_NOTE
from .turns import facts_of

# Source: what the API answers to a longer one.
MAX_CALL_ID_CHARS = 64


class Items:
    """As OpenAI takes them. What the model has said goes back without ids: nothing is stored."""

    # Whether the output of a tool can hold files; else they follow in a message of their own.
    has_files_in_output = True

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def of(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the conversation without the system's text."""
        items: list[JsonValue] = []
        waiting: list[ToolResultMessage] = []
        for message in request.messages:
            if not isinstance(message, ToolResultMessage):
                items += self._media(waiting)
                waiting = []
            items += self._message(message, request)
            if isinstance(message, ToolResultMessage):
                waiting.append(message)
        return [*items, *self._media(waiting)]

    def system(self, text: str, request: ProviderRequest) -> JsonObject:
        """Returns: what the system says, at the beginning or in between."""
        role = "developer" if request.model.capabilities.reasoning else "system"
        return {"role": role, "content": text}

    def text(self, text: Text) -> JsonObject:
        """Returns: what the model has said."""
        said: JsonObject = {"type": "output_text", "text": text.text}
        item: JsonObject = {"role": "assistant", "content": [said]}
        # Whether it is the answer or a word in between; models do worse without it.
        phase = self.kept(text.metadata).get("phase")
        return {**item, "phase": phase} if phase else item

    def reasoning(self, thoughts: list[Reasoning]) -> Iterator[JsonObject]:
        """Yield the thoughts of one item; none where its encrypted form is missing."""
        yield from self.items_of_reasoning(thoughts)

    def items_of_reasoning(
        self, thoughts: list[Reasoning], *, needs_encrypted: bool = True
    ) -> Iterator[JsonObject]:
        """Yield the item without its id."""
        given = (self.kept(one.metadata).get("reasoningEncryptedContent") for one in thoughts)
        encrypted = next((one for one in given if one), None)
        summary: list[JsonValue] = [
            {"type": "summary_text", "text": one.text} for one in thoughts if one.text
        ]
        if encrypted:
            yield {"type": "reasoning", "encrypted_content": encrypted, "summary": summary}
        elif not needs_encrypted:
            yield {"type": "reasoning", "summary": summary}

    def call(self, call: ToolCall) -> JsonObject:
        """Returns: a call that the model has made."""
        return {
            "type": "function_call",
            "call_id": call_id(call.id),
            "name": call.name,
            "arguments": dump(call.arguments),
        }

    def result_file_name(self, index: int) -> str:
        """Returns: the name of a document that a tool has given, by its place in the message."""
        return f"part-{index}.pdf"

    def kept(self, metadata: JsonObject | None) -> JsonObject:
        """Returns: what this vendor has given with a part; nothing of other vendors."""
        return facts_of(metadata, self.namespace)

    def _message(self, message: Message, request: ProviderRequest) -> Iterable[JsonValue]:
        match message:
            case SystemMessage():
                return [self.system(message.text, request)]
            case UserMessage():
                return [{"role": "user", "content": self._user_content(message)}]
            case ToolResultMessage():
                return [self._result(message)]
            case AssistantMessage():
                return list(self._assistant(message))

    def _user_content(self, message: UserMessage) -> list[JsonValue]:
        return [
            _input_text(part.text)
            if isinstance(part, Text)
            else _input_file(part, part.name or self.result_file_name(index))
            for index, part in enumerate(message.content)
        ]

    def _assistant(self, message: AssistantMessage) -> Iterator[JsonValue]:
        for thought_id, parts in groupby(message.content, self._thought_id):
            if thought_id is not None:
                yield from self.reasoning([part for part in parts if isinstance(part, Reasoning)])
                continue
            for part in parts:
                if isinstance(part, ToolCall):
                    yield self.call(part)
                elif isinstance(part, Text) and part.text:
                    yield self.text(part)

    def _thought_id(self, part: Text | Reasoning | ToolCall) -> str | None:
        """Returns: what the parts of one item of reasoning have in common."""
        if not isinstance(part, Reasoning):
            return None
        return str(self.kept(part.metadata).get("itemId") or id(part))

    def _result(self, message: ToolResultMessage) -> JsonObject:
        output: JsonValue = message.output
        if message.files and self.has_files_in_output:
            files = [_input_file(file, "data") for file in message.files]
            output = [*([_input_text(message.output)] if message.output else []), *files]
        return {
            "type": "function_call_output",
            "call_id": call_id(message.call_id),
            "output": output,
        }

    def _media(self, results: list[ToolResultMessage]) -> list[JsonValue]:
        """Returns: the files of results that stand together, as a message of the user's."""
        if self.has_files_in_output:
            return []
        files = [file for result in results for file in result.files]
        if not files:
            return []
        parts = [
            _input_file(file, self.result_file_name(index)) for index, file in enumerate(files, 1)
        ]
        return [{"role": "user", "content": [_input_text(MEDIA_NOTE), *parts]}]


def call_id(given: str) -> str:
    """Returns: the id of a call; one that another vendor has made too long is replaced."""
    if len(given) <= MAX_CALL_ID_CHARS:
        return given
    return f"call_{hashlib.sha256(given.encode()).hexdigest()[:40]}"


def _input_text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _input_file(file: File, name: str) -> JsonObject:
    if file.is_image:
        return {"type": "input_image", "image_url": file.data_url}
    return {"type": "input_file", "filename": name, "file_data": file.data_url}
