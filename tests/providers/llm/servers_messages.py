"""A server of Messages that refuses what Anthropic refuses, with Anthropic's own errors."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import httpx

from tests.providers.llm.judges import judge_messages

Block = dict[str, Any]
_FIELDS = {
    "model", "max_tokens", "temperature", "top_p", "top_k", "thinking", "output_config", "metadata",
    "service_tier", "speed", "inference_geo", "context_management", "stop_sequences", "system",
    "messages", "tools", "tool_choice", "stream",
}  # fmt: skip
_BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
}


class Refused(Exception):
    pass


def thinking(text: str, signature: str) -> Block:
    return {"type": "thinking", "thinking": text, "signature": signature}


def redacted(data: str) -> Block:
    return {"type": "redacted_thinking", "data": data}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "read", **arguments: Any) -> Block:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def frames_of(blocks: tuple[Block, ...], *, stop: str, usage: Block | None = None) -> list[Block]:
    start = {"input_tokens": 7, "output_tokens": 1, **(usage or {})}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": start}  # fmt: skip
    frames: list[Block] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        empty = {
            **block,
            **{k: "" for k in ("text", "thinking", "signature") if k in block},
            **({"input": {}} if "input" in block else {}),
        }
        frames.append({"type": "content_block_start", "index": index, "content_block": empty})
        deltas: list[Block] = []
        for kind, name in (("text", "text"), ("thinking", "thinking"), ("signature", "signature")):
            if block.get(name):
                deltas.append({"type": f"{kind}_delta", name: block[name]})
        if "input" in block:
            raw = json.dumps(block["input"])
            pieces = (raw[:4], raw[4:])
            deltas += [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        frames += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        frames.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop, "stop_sequence": None}
    frames.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 50}})
    return [*frames, {"type": "message_stop"}]


def write(frames: list[Block]) -> bytes:
    return b"".join(
        f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n".encode() for frame in frames
    )


class MessagesServer(httpx.AsyncBaseTransport):
    def __init__(self, *, body_version: str = "") -> None:
        self.body_version = body_version
        self.answers: list[bytes] = []
        self.issued: list[list[Block]] = []
        self.requests: list[httpx.Request] = []
        self.bodies: list[Any] = []

    def answer(self, *blocks: Block, stop: str = "end_turn", **fields: Any) -> None:
        self.issued.append(list(blocks))
        self.raw(*frames_of(blocks, stop=stop, **fields))

    def raw(self, *frames: Block) -> None:
        self.answers.append(write(list(frames)))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content)
        self.bodies.append(body)
        if not self.body_version:
            judge_messages(body)
        try:
            self._check(request, body)
        except Refused as exc:
            error = {"type": "invalid_request_error", "message": str(exc)}
            return httpx.Response(400, json={"type": "error", "error": error}, request=request)
        return httpx.Response(200, content=self.answers.pop(0), request=request)

    def _check(self, request: httpx.Request, body: Block) -> None:
        allowed = _FIELDS
        if self.body_version:
            _demand(body.get("anthropic_version") == self.body_version, "anthropic_version: Field")
            allowed = _FIELDS - {"model"} | {"anthropic_version"}
        else:
            version = request.headers.get("anthropic-version")
            _demand(version == "2023-06-01", "anthropic-version: header is required")
            _demand("model" in body, "model: Field required")
        for name in body:
            _demand(name in allowed, f"{name}: Extra inputs are not permitted")
        _demand(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
        _check_sampling(body)
        _check_roles(body["messages"])
        marks = json.dumps(body).count('"cache_control"')
        _demand(
            marks <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."
        )
        for message in body["messages"]:
            for block in message["content"]:
                _check_block(block)
        _check_calls(body)
        self._check_thinking(body["messages"])

    def _check_thinking(self, messages: list[Block]) -> None:
        issued = [block for answer in self.issued for block in answer]
        for message in messages:
            if message["role"] != "assistant":
                continue
            blocks = [
                {k: v for k, v in b.items() if k != "cache_control"} for b in message["content"]
            ]
            for block in blocks:
                if block["type"] in {"thinking", "redacted_thinking"}:
                    _demand(block in issued, "Invalid `signature` in `thinking` block")
            for answer in self.issued:
                calls = [block["id"] for block in answer if block["type"] == "tool_use"]
                if any(b.get("id") in calls for b in blocks):
                    kept = [b for b in blocks if "thinking" in b["type"]]
                    wanted = [b for b in answer if "thinking" in b["type"]]
                    _demand(kept == wanted, "Expected `thinking`, but found `tool_use`")


def _demand(is_so: bool, message: str) -> None:
    if not is_so:
        raise Refused(message)


def _check_sampling(body: Block) -> None:
    thought = body.get("thinking") or {}
    both = "temperature" in body and "top_p" in body
    _demand(not both, "`temperature` and `top_p` cannot both be specified for this model.")
    if thought.get("type") == "enabled":
        budget = thought["budget_tokens"]
        _demand(budget >= 1024, "thinking.enabled.budget_tokens: Input should be >= 1024")
        _demand(body["max_tokens"] > budget, "`max_tokens` must be greater than the budget")
        choice = (body.get("tool_choice") or {}).get("type")
        _demand(choice != "any", "Thinking may not be enabled when tool_choice forces tool use.")
    if thought:
        _demand(not {"temperature", "top_p", "top_k"} & set(body), "`temperature` may only be 1")


def _check_roles(messages: list[Block]) -> None:
    roles = [message["role"] for message in messages]
    _demand(roles[0] == "user", 'messages: first message must use the "user" role')
    alternates = all(a != b for a, b in itertools.pairwise(roles))
    _demand(alternates, "messages: roles must alternate between user and assistant")


def _check_block(block: Block) -> None:
    kind = block["type"]
    for name in block:
        _demand(name in _BLOCK_FIELDS[kind], f"{kind}.{name}: Extra inputs are not permitted")
    if kind == "text":
        _demand(bool(block["text"].strip()), "text content blocks must be non-empty")
    if kind == "tool_use":
        is_safe = re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]) is not None
        _demand(is_safe, "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if kind == "tool_result" and isinstance(block["content"], list):
        for child in block["content"]:
            _check_block(child)
            is_text = child["type"] == "text" or not block.get("is_error")
            _demand(is_text, "all content must be type `text` if `is_error` is true")


def _check_calls(body: Block) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        matches = sorted(results) == sorted(open_calls)
        _demand(matches, "`tool_use` ids were found without `tool_result` blocks immediately after")
        first = [b["type"] for b in message["content"]][: len(results)]
        _demand(set(first) <= {"tool_result"}, "tool_result blocks must come first")
        open_calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        _demand(not (open_calls or results) or "tools" in body, "tools: Field required")
    names = [tool["name"] for tool in body.get("tools", [])]
    _demand(len(names) == len(set(names)), "tools: Tool names must be unique.")
