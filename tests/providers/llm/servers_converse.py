"""A server of Converse that refuses what Bedrock refuses, with Bedrock's own errors.

What a body may have is checked with Amazon's own description of the service, and the signature by
a reckoning of its own.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import itertools
import json
import struct
from functools import cache
from typing import Any
from urllib.parse import quote

import botocore.session  # type: ignore[import-untyped]
import httpx
from botocore.model import Shape  # type: ignore[import-untyped]
from botocore.validate import ParamValidator  # type: ignore[import-untyped]

Block = dict[str, Any]
KEY_ID, KEY, TOKEN = "AKIADUMMY", "secret+key/1", "session-token"


class Refused(Exception):
    pass


@cache
def _shape() -> Shape:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("ConverseStream").input_shape


def frame(event: str, payload: Any, kind: str = "event") -> bytes:
    named = ":event-type" if kind == "event" else ":exception-type"
    headers = {named: event, ":content-type": "application/json", ":message-type": kind}
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    head = b"".join(
        struct.pack("B", len(name)) + name.encode() + b"\x07" + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )  # fmt: skip
    start = struct.pack(">II", 12 + len(head) + len(raw) + 4, len(head))
    message = start + struct.pack(">I", binascii.crc32(start)) + head + raw
    return message + struct.pack(">I", binascii.crc32(message))


def thinking(words: str, signature: str) -> Block:
    return {"reasoningContent": {"reasoningText": {"text": words, "signature": signature}}}


def redacted(data: str) -> Block:
    return {"reasoningContent": {"redactedContent": data}}


def text(words: str) -> Block:
    return {"text": words}


def call(call_id: str, name: str = "read", **arguments: Any) -> Block:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def frames_of(blocks: tuple[Block, ...], *, stop: str, **usage: Any) -> list[bytes]:
    frames = [frame("messageStart", {"role": "assistant"})]
    for index, block in enumerate(blocks):
        at = {"contentBlockIndex": index}
        if used := block.get("toolUse"):
            start = {name: used[name] for name in ("toolUseId", "name")}
            frames.append(frame("contentBlockStart", {**at, "start": {"toolUse": start}}))
        deltas = [{**at, "delta": delta} for delta in _deltas(block)]
        frames += [frame("contentBlockDelta", delta) for delta in deltas]
        frames.append(frame("contentBlockStop", at))
    frames.append(frame("messageStop", {"stopReason": stop}))
    counts = {"inputTokens": 7, "outputTokens": 50, "totalTokens": 57, **usage}
    return [*frames, frame("metadata", {"usage": counts, "metrics": {"latencyMs": 5}})]


def _deltas(block: Block) -> list[Block]:
    if used := block.get("toolUse"):
        raw = json.dumps(used["input"])
        return [{"toolUse": {"input": piece}} for piece in (raw[:3], raw[3:])]
    thought = block.get("reasoningContent")
    if thought is None:
        return [block]
    if "redactedContent" in thought:
        return [block]
    parts = thought["reasoningText"]
    return [{"reasoningContent": {name: parts[name]}} for name in ("text", "signature")]


class ConverseServer(httpx.AsyncBaseTransport):
    def __init__(self, *, region: str = "us-east-1") -> None:
        self.region = region
        self.answers: list[bytes] = []
        self.issued: list[list[Block]] = []
        self.requests: list[httpx.Request] = []
        self.bodies: list[Any] = []

    def answer(self, *blocks: Block, stop: str = "end_turn", **usage: Any) -> None:
        self.issued.append(list(blocks))
        self.raw(*frames_of(blocks, stop=stop, **usage))

    def raw(self, *frames: bytes) -> None:
        self.answers.append(b"".join(frames))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content)
        self.bodies.append(body)
        try:
            self._check(request, body)
        except Refused as exc:
            headers = {"x-amzn-errortype": "ValidationException"}
            answer = {"message": str(exc)}
            return httpx.Response(400, json=answer, headers=headers, request=request)
        return httpx.Response(200, content=_pieces(self.answers.pop(0)), request=request)

    def _check(self, request: httpx.Request, body: Block) -> None:
        signature = request.headers["authorization"]
        if signature.startswith("AWS4"):
            _demand(signature == _signed(request, self.region), "The request signature is wrong.")
        report = ParamValidator().validate({**body, "modelId": "m"}, _shape())
        _demand(not report.has_errors(), report.generate_report())
        messages = body["messages"]
        roles = [message["role"] for message in messages]
        _demand(roles[0] == "user", "A conversation must start with a user message.")
        alternates = all(a != b for a, b in itertools.pairwise(roles))
        _demand(alternates, "A conversation must alternate between user and assistant roles.")
        _check_calls(body)
        for message in messages:
            self._check_blocks(message["content"])
        _check_thinking(body)

    def _check_blocks(self, blocks: list[Block]) -> None:
        issued = [block for answer in self.issued for block in answer]
        for block in blocks:
            if "text" in block:
                _demand(bool(block["text"].strip()), "text content blocks must be non-empty")
            if "reasoningContent" in block:
                _demand(block in issued, "Invalid `signature` in `thinking` block")
            if "toolResult" in block:
                self._check_blocks(block["toolResult"]["content"])
        has_text = any("text" in block for block in blocks)
        has_document = any("document" in block for block in blocks)
        _demand(has_text or not has_document, "A document needs a text in the same message.")


async def _pieces(data: bytes) -> Any:
    # The borders of blocks and those of frames are not the same.
    for start in range(0, len(data), 100):
        yield data[start : start + 100]


def _demand(is_so: bool, message: str) -> None:
    if not is_so:
        raise Refused(message)


def _check_calls(body: Block) -> None:
    open_calls: list[str] = []
    names: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        results = [b["toolResult"]["toolUseId"] for b in blocks if "toolResult" in b]
        matches = sorted(results) == sorted(open_calls)
        _demand(matches, "Expected toolResult blocks for the toolUse blocks of the previous turn.")
        open_calls = [b["toolUse"]["toolUseId"] for b in blocks if "toolUse" in b]
        _demand(not (open_calls or results) or "toolConfig" in body, "toolConfig must be defined")
        names += [b["document"]["name"] for b in blocks if "document" in b]
    _demand(len(names) == len(set(names)), "Document names must be unique.")


def _check_thinking(body: Block) -> None:
    fields = body.get("additionalModelRequestFields", {})
    config = body["inferenceConfig"]
    if (thought := fields.get("thinking")) and thought["type"] == "enabled":
        _demand(config["maxTokens"] > thought["budget_tokens"], "max_tokens is too small")
        _demand(not {"temperature", "topP"} & set(config), "`temperature` may only be 1")
    both = {"temperature", "topP"} <= set(config)
    _demand(not both, "`temperature` and `top_p` cannot both be specified for this model.")


def _signed(request: httpx.Request, region: str) -> str:
    """Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html"""
    names = request.headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    headers = "".join(f"{name}:{request.headers[name].strip()}\n" for name in names)
    path = quote(request.url.raw_path.decode(), safe="/-_.~")
    digest = hashlib.sha256(request.content).hexdigest()
    canonical = f"POST\n{path}\n\n{headers}\n{';'.join(names)}\n{digest}"
    date = request.headers["x-amz-date"]
    scope = f"{date[:8]}/{region}/bedrock/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{KEY}".encode()
    for part in (*scope.split("/"), f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashed}"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    listed = ";".join(names)
    credential = f"AWS4-HMAC-SHA256 Credential={KEY_ID}/{scope}"
    return f"{credential}, SignedHeaders={listed}, Signature={key.hex()}"
