from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
from openai.types.responses import (
    FunctionToolParam,
    ResponseFunctionToolCallParam,
    response_create_params,
    response_input_item_param,
    response_input_param,
)
from pydantic import TypeAdapter, ValidationError

Json = dict[str, Any]
FIELDS = set(response_create_params.ResponseCreateParamsStreaming.__annotations__)
CALL = TypeAdapter(ResponseFunctionToolCallParam)
RESULT = TypeAdapter(response_input_item_param.FunctionCallOutput)
USER = TypeAdapter(response_input_param.Message)
TOOL = TypeAdapter(FunctionToolParam)
SCHEMA_WORDS = {"type", "description", "enum", "properties", "required", "items", "anyOf", "oneOf",
                "allOf", "additionalProperties", "$ref", "$defs"}  # fmt: skip


class Refusal(Exception):
    def __init__(self, message: str, param: str = "input", code: str | None = None) -> None:
        super().__init__(message)
        self.body = {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": param,
                "code": code,
            }
        }


class Pieces(httpx.AsyncByteStream):
    def __init__(self, data: bytes, *, is_cut: bool) -> None:
        self.data, self.is_cut = data, is_cut

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # Borders of blocks are nowhere in particular.
        for start in range(0, len(self.data), 97):
            yield self.data[start : start + 97]
        if self.is_cut:
            raise httpx.ReadError("reset")


class ResponsesServer(httpx.AsyncBaseTransport):
    """Plays answers, and refuses what the vendor refuses. `seals`: reasoning it has given."""

    def __init__(
        self,
        *answers: list[Json],
        is_xai: bool = False,
        reasons: bool = True,
        is_cut: bool = False,
        is_plain_schema: bool = False,
    ) -> None:
        self.answers = list(answers)
        self.is_xai, self.reasons, self.is_cut = is_xai, reasons, is_cut
        self.is_plain_schema = is_plain_schema or is_xai
        self.requests: list[httpx.Request] = []
        self.bodies: list[Json] = []
        self.seals: dict[str, list[Json]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raw = await request.aread()
        body = json.loads(raw)
        self.requests.append(request)
        self.bodies.append(body)
        try:
            self.check(body)
        except Refusal as exc:
            return httpx.Response(400, stream=Pieces(json.dumps(exc.body).encode(), is_cut=False))
        frames = self.answers.pop(0)
        for item in (frame.get("item", {}) for frame in frames):
            if item.get("encrypted_content"):
                self.seals[item["encrypted_content"]] = item["summary"]
        text = "".join(f"event: {f.get('type')}\ndata: {json.dumps(f)}\n\n" for f in frames)
        return httpx.Response(200, stream=Pieces(text.encode(), is_cut=self.is_cut))

    def check(self, body: Json) -> None:
        unknown = body.keys() - FIELDS
        if unknown:
            name = min(unknown)
            raise Refusal(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if body.get("stream") is not True or body.get("store") is not False:
            raise Refusal("Not what this test is about.")
        if self.reasons and not self.is_xai and "temperature" in body:
            raise Refusal("Unsupported parameter: 'temperature'.", "temperature")
        for tool in body.get("tools", ()):
            self._check_tool(tool)
        if "tool_choice" in body and not body.get("tools"):
            raise Refusal("Tool choice is only allowed when 'tools' are specified.", "tool_choice")
        self._check_input(body["input"])

    def _check_tool(self, tool: Json) -> None:
        _check(TOOL, {"strict": None, **tool} if self.is_xai else tool, "tools")
        if self.is_xai and '"additionalProperties": false' in json.dumps(tool):
            raise Refusal("additionalProperties is not supported", "tools")
        if not self.is_plain_schema and tool["name"] != "StructuredOutput":
            for word in _words(tool["parameters"]):
                if word not in SCHEMA_WORDS:
                    raise Refusal(f"Invalid schema: '{word}' is not permitted.", "tools")

    def _check_input(self, items: list[Json]) -> None:
        open_calls: set[str] = set()
        for index, item in enumerate(items):
            match item.get("type", item.get("role")):
                case "developer" | "system" as role:
                    wanted = "developer" if self.reasons and not self.is_xai else "system"
                    if role != wanted or not isinstance(item["content"], str):
                        raise Refusal(f"Invalid role '{role}'.", f"input[{index}].role")
                case "user":
                    # The API fills in the detail, which the types demand.
                    content = [
                        {"detail": "auto", **part} if part["type"] == "input_image" else part
                        for part in item["content"]
                    ]
                    _check(USER, {**item, "content": content}, f"input[{index}]")
                case "assistant":
                    self._check_assistant(item, index)
                case "reasoning":
                    self._check_reasoning(item, index)
                case "function_call":
                    _check(CALL, item, f"input[{index}]")
                    if len(item["call_id"]) > 64:
                        raise Refusal("Invalid 'call_id': string too long.")
                    open_calls.add(item["call_id"])
                case "function_call_output":
                    _check(RESULT, item, f"input[{index}]")
                    if item["call_id"] not in open_calls:
                        raise Refusal(
                            f"No tool call found for function call output with call_id {item}."
                        )
                    open_calls.remove(item["call_id"])
                case other:
                    raise Refusal(f"Invalid value: '{other}'.", f"input[{index}]")
        if open_calls:
            raise Refusal(f"No tool output found for function call {min(open_calls)}.")

    def _check_assistant(self, item: Json, index: int) -> None:
        texts = item["content"]
        if self.is_xai is not isinstance(texts, str):
            raise Refusal("Invalid content.", f"input[{index}].content")
        if not self.is_xai and any(p.keys() != {"type", "text"} for p in texts):
            raise Refusal("Invalid content.", f"input[{index}].content")

    def _check_reasoning(self, item: Json, index: int) -> None:
        wanted = {"type", "encrypted_content", "summary"}
        if self.is_xai:
            wanted |= {"id", "status"}
        if item.keys() != wanted:
            raise Refusal(f"Invalid fields: {sorted(item)}", f"input[{index}]")
        if self.seals.get(item["encrypted_content"]) != item["summary"]:
            raise Refusal(
                "The encrypted content could not be verified.",
                f"input[{index}]",
                "invalid_encrypted_content",
            )


def _check(adapter: TypeAdapter[Any], value: Json, place: str) -> None:
    try:
        adapter.validate_python(value)
    except ValidationError as exc:
        raise Refusal(f"Invalid value: {exc.errors()[0]['loc']}", place) from exc


def _words(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for one in schema:
            yield from _words(one)
    if isinstance(schema, dict):
        for word, value in schema.items():
            yield word
            is_named = word in {"properties", "$defs"}
            yield from _words(list(value.values()) if is_named else value)


def reasoning(n: int, *summaries: str, seal: str | None = "sealed") -> list[Json]:
    item: Json = {
        "type": "reasoning",
        "id": f"rs_{n}",
        "summary": [{"type": "summary_text", "text": text} for text in summaries],
    }
    if seal:
        item["encrypted_content"] = f"{seal}-{n}"
    frames: list[Json] = [
        {"type": "response.output_item.added", "output_index": n, "item": {**item, "summary": []}}
    ]
    for index, text in enumerate(summaries):
        place = {"item_id": f"rs_{n}", "output_index": n, "summary_index": index}
        empty = {"type": "summary_text", "text": ""}
        frames.append({"type": "response.reasoning_summary_part.added", **place, "part": empty})
        frames += [
            {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
            for piece in _halves(text)
        ]
        frames.append({"type": "response.reasoning_summary_text.done", **place, "text": text})
    return [*frames, {"type": "response.output_item.done", "output_index": n, "item": item}]


def message(n: int, text: str, **fields: Any) -> list[Json]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed",
            "content": [part], **fields}  # fmt: skip
    place = {"item_id": f"msg_{n}", "output_index": n, "content_index": 0, "logprobs": []}
    return [
        {"type": "response.output_item.added", "output_index": n, "item": {**item, "content": []}},
        *(
            {"type": "response.output_text.delta", **place, "delta": piece}
            for piece in _halves(text)
        ),
        {"type": "response.output_text.done", **place, "text": text},
        {"type": "response.output_item.done", "output_index": n, "item": item},
    ]


def call(n: int, name: str, arguments: str, call_id: str = "") -> list[Json]:
    item = {"type": "function_call", "id": f"fc_{n}", "call_id": call_id or f"call_{n}"}
    whole = {**item, "name": name, "arguments": arguments}
    place = {"item_id": f"fc_{n}", "output_index": n}
    return [
        {
            "type": "response.output_item.added",
            "output_index": n,
            "item": {**whole, "arguments": ""},
        },
        *(
            {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            for piece in _halves(arguments)
        ),
        {"type": "response.output_item.done", "output_index": n, "item": whole},
    ]


USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 0},
    "output_tokens": 60,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 1060,
}


def answer(*items: list[Json], status: str = "completed", **fields: Any) -> list[Json]:
    base = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [],
        "status": "in_progress", "error": None, "usage": None, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    end = {**base, "status": status, "usage": USAGE, **fields}
    return [
        {"type": "response.created", "response": base},
        {"type": "response.in_progress", "response": base},
        *(frame for item in items for frame in item),
        {"type": f"response.{status}", "response": end},
    ]


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
