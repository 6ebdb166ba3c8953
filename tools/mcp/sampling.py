"""What a server asks a model, and the answer as it expects that.

Source: https://modelcontextprotocol.io/specification/2025-06-18/client/sampling
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator, Sequence

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text
from tools.context import ModelAnswer, ModelMessage, ModelRequest, Picture
from tools.errors import ToolError

MAX_TOKENS = 4_096
# People are shown all of it.
MAX_CHARS = 64_000
MAX_MESSAGES = 64
_MAX_PICTURES = 4
_MAX_PICTURE_CHARS = 4 * 1024 * 1024
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MAX_HINTS, _HINT_CHARS = 8, 100
_REASON_CHARS = 1_000
_MAX_STOPS, _STOP_CHARS = 8, 200
_INVALID, INTERNAL = -32602, -32603


class Refusal(ToolError):
    """The server gets this error instead of an answer."""

    def __init__(self, message: str, code: int = _INVALID) -> None:
        super().__init__(message)
        self.code = code


def rejected(reason: str = "") -> Refusal:
    """Returns: what the protocol has a server told of whose request somebody rejects, with what
    they said."""
    said = printable_text(reason)[:_REASON_CHARS].strip()
    return Refusal(f"User rejected sampling request{f': {said}' if said else ''}", -1)


def read_request(server: str, params: JsonObject) -> ModelRequest:
    """Read the parameters of `sampling/createMessage`. `includeContext` counts as `none`.

    Raises: Refusal for what is not offered, or is too much.
    """
    if params.get("tools"):
        raise Refusal("Tools are not offered to a sampled model.")
    found, system = params.get("messages"), params.get("systemPrompt", "")
    wanted, temperature = params.get("maxTokens"), params.get("temperature")
    if not isinstance(found, list) or not 0 < len(found) <= MAX_MESSAGES:
        raise Refusal(f"messages is no list of 1 to {MAX_MESSAGES} messages.")
    if isinstance(wanted, bool) or not isinstance(wanted, int) or wanted < 1:
        raise Refusal("maxTokens is no positive number.")
    messages = _joined([_message(one) for one in found])
    if messages[-1].role != "user":
        raise Refusal("The last message is not the user's.")
    system = printable_text(system) if isinstance(system, str) else ""
    if sum(map(len, (system, *_texts(messages)))) > MAX_CHARS:
        raise Refusal(f"The request has more than {MAX_CHARS} characters.")
    pictures = [one for message in messages for one in message.content if isinstance(one, Picture)]
    if len(pictures) > _MAX_PICTURES:
        raise Refusal(f"The request has more than {_MAX_PICTURES} images.")
    is_number = isinstance(temperature, int | float) and 0 <= temperature <= 2
    hints, small = _preferences(params.get("modelPreferences"))
    return ModelRequest(
        program=server,
        system=system,
        messages=messages,
        max_tokens=min(wanted, MAX_TOKENS),
        temperature=float(temperature) if is_number else None,  # type: ignore[arg-type]
        hints=hints,
        small=small,
    )


def as_text(request: ModelRequest) -> str:
    """Returns: all that a model would be sent, as people are shown it."""
    shown = [("System prompt", [request.system])] if request.system else []
    for message in request.messages:
        role = "User" if message.role == "user" else "Assistant"
        shown.append((role, [_as_text(one) for one in message.content]))
    return "\n\n".join(f"{role}:\n" + "\n".join(texts) for role, texts in shown)


def to_result(answer: ModelAnswer, stops: JsonValue) -> JsonObject:
    """Returns: the result for the server. The answer ends before the first of its `stopSequences`,
    `stops`."""
    text, reason = answer.text, "maxTokens" if answer.cut else "endTurn"
    for stop in (stops if isinstance(stops, list) else [])[:_MAX_STOPS]:
        if isinstance(stop, str) and 0 < len(stop) <= _STOP_CHARS and stop in text:
            text, reason = text.partition(stop)[0], "stopSequence"
    content: JsonObject = {"type": "text", "text": text}
    return {"role": "assistant", "content": content, "model": answer.model, "stopReason": reason}


def _message(given: JsonValue) -> ModelMessage:
    one = given if isinstance(given, dict) else {}
    role, content = one.get("role"), one.get("content")
    blocks = content if isinstance(content, list) else [content]
    if role not in ("user", "assistant") or not 0 < len(blocks) <= MAX_MESSAGES:
        raise Refusal("A message has no known role or no content.")
    return ModelMessage("user" if role == "user" else "assistant", tuple(map(_block, blocks)))


def _block(given: JsonValue) -> str | Picture:
    block = given if isinstance(given, dict) else {}
    kind, text, data, mime = (block.get(key) for key in ("type", "text", "data", "mimeType"))
    if kind == "text" and isinstance(text, str):
        return printable_text(text)
    if kind != "image" or not isinstance(data, str) or mime not in _PICTURES:
        raise Refusal("Only texts and images can be sampled: PNG, JPEG, GIF or WebP.")
    if len(data) > _MAX_PICTURE_CHARS:
        raise Refusal("An image is too large.")
    try:
        b64decode(data, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise Refusal("The data of an image is no base64.") from exc
    return Picture(str(mime), f"data:{mime};base64,{data}")


def _joined(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """Models expect turns that alternate, and no pictures of their own."""
    found: list[ModelMessage] = []
    for one in messages:
        if one.role == "assistant" and any(isinstance(part, Picture) for part in one.content):
            raise Refusal("Only the user's messages can have images.")
        if found and found[-1].role == one.role:
            one = ModelMessage(one.role, (*found.pop().content, *one.content))
        found.append(one)
    return tuple(found)


def _texts(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        yield from (one for one in message.content if isinstance(one, str))


def _as_text(one: str | Picture) -> str:
    if isinstance(one, str):
        return one
    return f"[{one.mime}, {len(one.data_url) * 3 // 4096 + 1} kB]"


def _preferences(given: JsonValue) -> tuple[tuple[str, ...], bool]:
    """Returns: the hints, and whether cost or speed count more than what a model can."""
    wanted = given if isinstance(given, dict) else {}
    hints = wanted.get("hints")
    names = [
        name[:_HINT_CHARS]
        for one in (hints if isinstance(hints, list) else [])[:_MAX_HINTS]
        if isinstance(one, dict) and isinstance(name := one.get("name"), str) and name
    ]
    cost, speed, mind = (
        value if isinstance(value := wanted.get(f"{key}Priority"), int | float) else 0
        for key in ("cost", "speed", "intelligence")
    )
    return tuple(names), max(cost, speed) > mind
