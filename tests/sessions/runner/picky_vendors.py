"""Vendors of each wire that refuse one file for good, in their own words, and answer else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.providers.llm import (
    servers_chat,
    servers_cohere,
    servers_converse,
    servers_gemini,
    servers_messages,
    servers_responses,
)

Json = dict[str, Any]


class Picky(httpx.AsyncBaseTransport):
    """`words` may name the place with `{place}`; `error` puts them into the vendor's answer."""

    def __init__(self, wire: Wire, bad: str, words: str) -> None:
        self.wire, self.bad, self.words = wire, bad, words
        self.vendor = wire.vendor()
        self.refused: list[Json] = []
        self.taken: list[Json] = []

    def says(self, text: str) -> None:
        self.wire.says(self.vendor, text)

    def reads(self, path: str) -> None:
        self.wire.calls(self.vendor, "read", {"filePath": path})

    def calls(self, name: str, **given: Any) -> None:
        self.wire.calls(self.vendor, name, given)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread())
        place = place_of(body, self.bad)
        if place is None:
            self.taken.append(body)
            return await self.vendor.handle_async_request(request)
        self.refused.append(body)
        status, answer = self.wire.error(self.words.format(place=place))
        return httpx.Response(status, json=answer, request=request)


@dataclass(frozen=True)
class Wire:
    npm: str
    model: str
    vendor: Callable[[], Any]
    says: Callable[[Any, str], None]
    calls: Callable[[Any, str, Json], None]
    error: Callable[[str], tuple[int, Json]]
    image: str
    pdf: str = ""
    options: Json | None = None


def place_of(node: Any, bad: str, place: str = "") -> str | None:
    """Where a body has a text with `bad` in it, with dots between the steps."""
    if isinstance(node, str):
        return place if bad in node else None
    pairs = enumerate(node) if isinstance(node, list) else ()
    for step, item in node.items() if isinstance(node, dict) else pairs:
        found = place_of(item, bad, f"{place}.{step}" if place else str(step))
        if found is not None:
            return found
    return None


def _anthropic(message: str) -> tuple[int, Json]:
    return 400, {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": message},
        "request_id": "req_1",
    }


def _openai(message: str) -> tuple[int, Json]:
    kind = {"type": "invalid_request_error", "param": "input", "code": "invalid_value"}
    return 400, {"error": {"message": message, **kind}}


def _google(message: str) -> tuple[int, Json]:
    return 400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def _append(*frames: Any) -> Callable[[Any], None]:
    return lambda server: server.answers.append(list(frames))


def _say_gemini(server: Any, text: str) -> None:
    content = {"role": "model", "parts": [{"text": text}]}
    server.answers.append([{"candidates": [{"content": content, "finishReason": "STOP"}]}])


def _call_gemini(server: Any, name: str, given: Json) -> None:
    part = {"functionCall": {"name": name, "args": given}, "thoughtSignature": "c2ln"}
    content = {"role": "model", "parts": [part]}
    server.answers.append([{"candidates": [{"content": content, "finishReason": "STOP"}]}])


def _say_chat(server: Any, text: str) -> None:
    chat = servers_chat
    server.answers.append([chat.delta(content=text), chat.delta("stop"), chat.usage()])


def _call_chat(server: Any, name: str, given: Json) -> None:
    chat = servers_chat
    call = chat.call(0, "abcdefghi", json.dumps(given), name)
    server.answers.append([chat.delta("tool_calls", tool_calls=[call])])


def _say_cohere(server: Any, text: str) -> None:
    server.answers.append([*servers_cohere.text(text), *servers_cohere.end()])


def _call_cohere(server: Any, name: str, given: Json) -> None:
    call = servers_cohere.call(0, "c1", json.dumps(given), name=name)
    server.answers.append([*call, *servers_cohere.end("TOOL_CALL")])


WIRES = {
    "messages": Wire(
        "@ai-sdk/anthropic",
        "claude-sonnet-4-5",
        servers_messages.MessagesServer,
        lambda server, text: server.answer(servers_messages.text(text)),
        lambda server, name, given: server.answer(
            servers_messages.call("toolu_1", name, **given), stop="tool_use"
        ),
        _anthropic,
        "{place}: Could not process image",
        "The PDF specified was not valid.",
    ),
    "converse": Wire(
        "@ai-sdk/amazon-bedrock",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        servers_converse.ConverseServer,
        lambda server, text: server.answer(servers_converse.text(text)),
        lambda server, name, given: server.answer(
            servers_converse.call("tooluse_1", name, **given), stop="tool_use"
        ),
        lambda message: (400, {"message": message}),
        "The model returned the following errors: {place}: image exceeds 5 MB maximum: 5316852 "
        "bytes > 5242880 bytes",
        "The model returned the following errors: The PDF specified was not valid.",
        {"region": "us-east-1"},
    ),
    "gemini": Wire(
        "@ai-sdk/google",
        "gemini-3-pro-preview",
        servers_gemini.GeminiServer,
        _say_gemini,
        _call_gemini,
        _google,
        "Unable to process input image. Please retry or report in "
        "https://developers.generativeai.google/guide/troubleshooting",
        "The document has no pages.",
    ),
    "responses": Wire(
        "@ai-sdk/openai",
        "gpt-4.1",
        lambda: servers_responses.ResponsesServer(reasons=False),
        lambda server, text: server.answers.append(
            servers_responses.answer(servers_responses.message(0, text))
        ),
        lambda server, name, given: server.answers.append(
            servers_responses.answer(servers_responses.call(0, name, json.dumps(given)))
        ),
        _openai,
        "You uploaded an unsupported image. Please make sure your image is valid.",
        "Invalid '{place}'. Expected a base64-encoded data URL with an application/pdf MIME type "
        "(e.g. 'data:application/pdf;base64,aW1nIGJ5dGVzIGhlcmU=').",
    ),
    "openrouter": Wire(
        "@openrouter/ai-sdk-provider",
        "qwen/qwen3-vl",
        servers_chat.OpenRouterServer,
        _say_chat,
        _call_chat,
        lambda message: (400, {"error": {"message": message, "code": 400}}),
        "Provider returned error: invalid image data",
        "Failed to parse document.pdf",
    ),
    "mistral": Wire(
        "@ai-sdk/mistral",
        "mistral-medium-latest",
        servers_chat.MistralServer,
        _say_chat,
        _call_chat,
        lambda message: (400, {"object": "error", "message": message, "code": "3310"}),
        "Image content cannot be loaded",
        "Document content cannot be loaded",
    ),
    "cohere": Wire(
        "@ai-sdk/cohere",
        "command-a-vision-07-2025",
        servers_cohere.CohereServer,
        _say_cohere,
        _call_cohere,
        lambda message: (400, {"id": "x", "message": message}),
        "invalid request: unable to decode image",
    ),
}
