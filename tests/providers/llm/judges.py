"""The vendors' own SDKs on what is sent to them: their types of a request, and nothing beside.

Each is imported by who is judged by it: together they take seconds, of every process of a run.
"""

from __future__ import annotations

import types
from collections.abc import Collection
from typing import Any, get_type_hints

from pydantic import TypeAdapter

Json = dict[str, Any]
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
# Of older models, which this SDK has forgotten.
_SAMPLING = {"temperature", "top_p", "top_k"}
_DEFAULTS: dict[str, Json] = {
    "input_image": {"detail": "auto"},
    "output_text": {"annotations": []},
}


def judge_chat(body: Json) -> None:
    """Raises: AssertionError, ValidationError; as all here."""
    from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

    _judge(body, CompletionCreateParamsStreaming)


def judge_responses(body: Json) -> None:
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

    filled = [_filled(one) for one in body["input"]]
    _judge({**body, "input": filled}, ResponseCreateParamsStreaming)


def judge_messages(body: Json) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsStreaming

    kept = {name: one for name, one in body.items() if name not in _SAMPLING}
    _judge(kept, MessageCreateParamsStreaming)


def judge_gemini(body: Json) -> None:
    from google.genai import types as google

    known = {
        "contents": list[google.Content],
        "systemInstruction": google.Content,
        "tools": list[google.Tool],
        "toolConfig": google.ToolConfig,
        "generationConfig": google.GenerationConfig,
    }
    _demand_known(body, known)
    for name, value in body.items():
        _adapter(known[name]).validate_python(value)


def judge_converse(body: Json) -> None:
    import botocore.session  # type: ignore[import-untyped]
    from botocore.validate import ParamValidator  # type: ignore[import-untyped]

    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = service.operation_model("ConverseStream").input_shape
    report = ParamValidator().validate({**body, "modelId": "m"}, shape)
    assert not report.has_errors(), report.generate_report()


def _judge(body: Json, kind: Any) -> None:
    _demand_known(body, get_type_hints(kind))
    _exhaust(_adapter(kind).validate_python(body))


def _demand_known(body: Json, known: Collection[str]) -> None:
    assert body.keys() <= set(known), f"unknown: {sorted(body.keys() - set(known))}"


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if str(kind) not in _ADAPTERS:
        _ADAPTERS[str(kind)] = TypeAdapter(kind)
    return _ADAPTERS[str(kind)]


def _exhaust(node: Any) -> None:
    """An Iterable is validated only as far as somebody reads it."""
    if isinstance(node, dict):
        node = node.values()
    elif isinstance(node, str | bytes | int | float | types.NoneType):
        return
    for one in node:
        _exhaust(one)


def _filled(item: Json) -> Json:
    """The API fills in what the types demand of a picture and of an earlier answer."""
    content = item.get("content")
    if not isinstance(content, list):
        return item
    filled = [_DEFAULTS.get(part["type"], {}) | part for part in content]
    is_answer = item.get("role") == "assistant"
    answer = {"type": "message", "id": "msg_1", "status": "completed"} if is_answer else {}
    return {**answer, **item, "content": filled}
