"""Gemini's own wire, as Google's API, Vertex AI and gateways in front of them speak it.

Source: https://ai.google.dev/api/generate-content and the page about thought signatures; what is
sent when was recorded from OpenCode's requests.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..families.ids import takes_thinking_level
from ..json import JsonObject, JsonValue
from ..limits import output_limit
from ..messages import (
    AssistantContent,
    AssistantMessage,
    File,
    ProviderRequest,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from ..options import options_of
from ..repairs import fold_system_messages
from ..route import Protocol
from ..schemas.gemini import gemini_schema
from .chat import MEDIA_NOTE
from .fields import text_at
from .gemini_answer import GeminiDecoder
from .turns import facts_of

# Options of the AI SDK that have the same name on the wire; no others are sent.
_CONFIG_OPTIONS = (
    "thinkingConfig",
    "responseModalities",
    "mediaResolution",
    "imageConfig",
    "audioTimestamp",
    "seed",
)
_BODY_OPTIONS = ("safetySettings", "cachedContent", "labels", "serviceTier")
_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
# Google's own word for a call that no Gemini has signed.
# Source: https://ai.google.dev/gemini-api/docs/thought-signatures
UNSIGNED = "skip_thought_signature_validator"


@dataclass(frozen=True)
class GeminiDialect:
    """In what the places differ that serve Gemini."""

    # Whether Gemini 3 may get the files of a result inside of it.
    takes_files_in_results: bool = True
    # Whether Gemini 3 has to be told that a call has no signature.
    marks_unsigned: bool = False


class Gemini(Protocol):
    """The model and that the answer is streamed are said by the address, not by the body."""

    def __init__(self, dialect: GeminiDialect | None = None) -> None:
        self._dialect = dialect or GeminiDialect()

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        request = fold_system_messages(request)
        options = options_of(request)
        body: JsonObject = {"generationConfig": _config(request, options)}
        contents = self._contents(request)
        system: list[JsonValue] = [{"text": text} for text in [request.system_text] if text]
        if system and request.model.api_model.startswith("gemma-"):
            contents = [{"role": "user", "parts": system}, *contents]
        elif system:
            body["systemInstruction"] = {"parts": system}
        body["contents"] = contents
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_tool(tool) for tool in request.tools]}]
            mode = _MODES[request.tool_choice]
            body["toolConfig"] = {"functionCallingConfig": {"mode": mode}}
        return {**body, **{name: options[name] for name in _BODY_OPTIONS if name in options}}

    def decoder(self, request: ProviderRequest) -> GeminiDecoder:
        """Returns: a reader of the answer."""
        return GeminiDecoder()

    def _contents(self, request: ProviderRequest) -> list[JsonValue]:
        contents: list[JsonValue] = []
        results: list[ToolResultMessage] = []
        for message in request.messages:
            if isinstance(message, ToolResultMessage):
                results.append(message)
                continue
            contents += self._results(results, request)
            results = []
            if isinstance(message, UserMessage):
                contents.append({"role": "user", "parts": [_user_part(p) for p in message.content]})
            elif isinstance(message, AssistantMessage):
                contents += self._model(message, request)
        return contents + self._results(results, request)

    def _results(
        self, results: list[ToolResultMessage], request: ProviderRequest
    ) -> list[JsonValue]:
        """Returns: the answers to all calls of one message, and their files where they fit."""
        if not results:
            return []
        is_new = takes_thinking_level(request.model.api_model)
        inside = is_new and self._dialect.takes_files_in_results
        parts: list[JsonValue] = [_result(result, inside=inside) for result in results]
        answers: JsonObject = {"role": "user", "parts": parts}
        files: list[JsonValue] = [_file(file) for result in results for file in result.files]
        if inside or not files:
            return [answers]
        return [answers, {"role": "user", "parts": [{"text": MEDIA_NOTE}, *files]}]

    def _model(self, message: AssistantMessage, request: ProviderRequest) -> list[JsonValue]:
        marks = self._dialect.marks_unsigned and takes_thinking_level(request.model.api_model)
        parts: list[JsonValue] = []
        for part in message.content:
            signature = signature_of(part)
            if isinstance(part, ToolCall):
                # Of the calls of one answer only the first is signed.
                marks = marks and not signature
                call: JsonObject = {"name": part.name, "args": part.arguments}
                parts.append(_signed({"functionCall": call}, signature or UNSIGNED * marks))
            elif part.text or signature:
                thought: JsonObject = {"thought": True} if isinstance(part, Reasoning) else {}
                parts.append(_signed({"text": part.text, **thought}, signature))
        return [{"role": "model", "parts": parts}] if parts else []


def signature_of(part: AssistantContent) -> str:
    """Returns: what Google has signed a part with; nothing for other vendors' parts."""
    return text_at(facts_of(part.metadata, "google"), "thoughtSignature")


def _signed(part: JsonObject, signature: str) -> JsonObject:
    return {**part, "thoughtSignature": signature} if signature else part


def _config(request: ProviderRequest, options: JsonObject) -> JsonObject:
    config: JsonObject = {}
    if limit := output_limit(request):
        config["maxOutputTokens"] = limit
    if request.temperature is not None and request.model.capabilities.temperature:
        config["temperature"] = request.temperature
    if request.top_k is not None:
        config["topK"] = request.top_k
    if request.top_p is not None:
        config["topP"] = request.top_p
    return {**config, **{name: options[name] for name in _CONFIG_OPTIONS if name in options}}


def _tool(tool: ToolDefinition) -> JsonObject:
    declared: JsonObject = {"name": tool.name, "description": tool.description}
    parameters = gemini_schema(tool.schema)
    return {**declared, "parameters": parameters} if parameters else declared


def _user_part(part: Text | File) -> JsonObject:
    return {"text": part.text} if isinstance(part, Text) else _file(part)


def _file(file: File) -> JsonObject:
    return {"inlineData": {"mimeType": file.mime, "data": file.base64}}


def _result(result: ToolResultMessage, *, inside: bool) -> JsonObject:
    """Returns: the answer to a call, which the wire matches by its name and its place."""
    # Google's own name for what went wrong; what went well may have any.
    name = "error" if result.is_error else "content"
    answer: JsonObject = {
        "name": result.name,
        "response": {"name": result.name, name: result.output},
    }
    if inside and result.files:
        answer["parts"] = [_file(file) for file in result.files]
    return {"functionResponse": answer}
