"""The vendors of the recording on loopback: they play the steps of a case."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.providers.llm import servers_converse as converse
from tests.providers.llm import servers_gemini as gemini
from tests.providers.replies import Call, Reply, pieces
from tests.providers.servers import (
    AnthropicServer,
    OpenAIServer,
    Request,
    Responder,
    ResponsesServer,
    VendorServer,
    data_frame,
)

Json = dict[str, Any]
KEY = "key-dummy"
_CHUNK_CHARS = 12
_AWS: Json = {"region": "us-east-1", "accessKeyId": "AKIADUMMY", "secretAccessKey": "dummysecret"}
_USAGE = {"in": 1000, "out": 50, "cached": 0, "write": 0, "reasoning": 0}
_CALL_IDS = {"anthropic": "toolu_", "amazon-bedrock": "tooluse_"}
_CUT_SHORT = {"anthropic": "max_tokens", "amazon-bedrock": "max_tokens", "google": "MAX_TOKENS"}
_SIGNATURES = {"google": "dHNpZy1z", "openai": "enc-s"}
_STATUS = {"bad": 400, "auth": 401, "forbidden": 403, "missing": 404, "rate": 429, "server": 500,
           "unavailable": 503}  # fmt: skip
# What a vendor calls these errors.
_NAMES: Json = {
    "anthropic": ("invalid_request_error", "authentication_error", "permission_error",
                  "not_found_error", "rate_limit_error", "api_error", "api_error"),
    "google": ("INVALID_ARGUMENT", "UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND",
               "RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE"),
    "amazon-bedrock": ("ValidationException", "UnrecognizedClientException",
                       "AccessDeniedException", "ResourceNotFoundException", "ThrottlingException",
                       "InternalServerException", "ServiceUnavailableException"),
    "openai": ("invalid_value", "invalid_api_key", "unsupported_country_region_territory",
               "model_not_found", "rate_limit_exceeded", "server_error", "overloaded"),
}  # fmt: skip


class GeminiServer(VendorServer):
    def is_streamed(self, request: Request) -> bool:
        return ":streamGenerateContent" in request.path

    def frames(self, reply: Reply) -> Iterator[bytes]:
        signed = {"thoughtSignature": reply.signature} if reply.reasoning else {}
        parts: list[Json] = [
            {"text": piece, "thought": True} for piece in pieces(reply.reasoning, reply)
        ]
        parts += [{"text": piece} for piece in pieces(reply.text, reply)]
        calls: list[Json] = [
            {"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls
        ]
        # One signature: on the first call, or on the end of the text where there is none.
        (calls or parts[-1:] or [{}])[0].update(signed)
        for part in (*parts, *calls):
            yield data_frame(gemini.chunk(part))
        counts = {
            "promptTokenCount": reply.input_tokens + reply.cache_read_tokens,
            "candidatesTokenCount": reply.output_tokens,
            "thoughtsTokenCount": reply.reasoning_tokens,
            "cachedContentTokenCount": reply.cache_read_tokens,
        }
        yield data_frame(gemini.chunk({"text": ""}, finish=reply.finish or "STOP", **counts))


class ConverseServer(VendorServer):
    content_type = "application/vnd.amazon.eventstream"

    def is_streamed(self, request: Request) -> bool:
        return request.path.endswith("/converse-stream")

    def frames(self, reply: Reply) -> Iterator[bytes]:
        blocks = [converse.thinking(reply.reasoning, reply.signature)] if reply.reasoning else []
        blocks += [converse.redacted(reply.redacted)] if reply.redacted else []
        blocks += [converse.text(reply.text)] if reply.text else []
        blocks += [converse.call(one.id, one.name, **one.arguments) for one in reply.calls]
        stop = reply.finish or ("tool_use" if reply.calls else "end_turn")
        counts = {
            "inputTokens": reply.input_tokens,
            "outputTokens": reply.output_tokens,
            "cacheReadInputTokens": reply.cache_read_tokens,
            "cacheWriteInputTokens": reply.cache_write_tokens,
        }
        yield from converse.frames_of(tuple(blocks), stop=stop, **counts)


@dataclass(frozen=True)
class Routed(Reply):
    """Of a vendor behind OpenRouter, which has its own form for what it thinks."""

    format: str = ""

    def details(self) -> Iterator[Json]:
        at = {"format": self.format, "index": 0}
        for piece in pieces(self.reasoning, self):
            kind = "summary" if self.format == "openai-responses-v1" else "text"
            detail = {"type": f"reasoning.{kind}", kind: piece, **at}
            yield {"reasoning": piece, "reasoning_details": [detail]}
        yield from self._seals(at) if self.reasoning else ()
        if self.redacted:
            hidden = {"type": "reasoning.encrypted", "data": self.redacted, **at, "index": 1}
            yield {"reasoning_details": [hidden]}

    def _seals(self, at: Json) -> Iterator[Json]:
        sealed: Json = {"type": "reasoning.encrypted", "data": f"enc-s{self.signature}", **at}
        match self.format:
            case "anthropic-claude-v1":
                signed = {"type": "reasoning.text", "signature": f"sig-s{self.signature}", **at}
                yield {"reasoning_details": [signed]}
            case "openai-responses-v1":
                yield {"reasoning_details": [sealed | {"id": f"rs_s{self.signature}"}]}
            case "google-gemini-v1":
                yield {"reasoning_details": [sealed | {"id": "tool_s0"}]}


class OpenRouterServer(OpenAIServer):
    def thoughts(self, reply: Reply) -> Iterator[Json]:
        assert isinstance(reply, Routed)
        yield from reply.details()


@dataclass(frozen=True)
class Vendor:
    server: type[VendorServer]
    # Where it is served; what is asked for is below.
    path: str
    npm: str = ""

    def start(self, responder: Responder) -> VendorServer:
        return self.server(responder)

    def settings(self, provider: str, origin: str, models: Json) -> Json:
        """Returns: what connects it, in the shape of opencode.json."""
        address = f"{origin}{self.path}"
        options: Json = {"baseURL": address, "apiKey": KEY}
        if provider == "amazon-bedrock":
            options = {"baseURL": address, "endpoint": address, **_AWS}
        own = {"npm": self.npm, "name": "Compatible"} if self.npm else {}
        return {"options": options, "models": models, **own}


VENDORS = {
    "openai": Vendor(ResponsesServer, "/openai/v1"),
    "anthropic": Vendor(AnthropicServer, "/anthropic/v1"),
    "google": Vendor(GeminiServer, "/google/v1beta"),
    "amazon-bedrock": Vendor(ConverseServer, "/bedrock"),
    "openrouter": Vendor(OpenRouterServer, "/openrouter/api/v1"),
    "compat": Vendor(OpenAIServer, "/compat/v1", "@ai-sdk/openai-compatible"),
}


def answer_of(step: Json, *, provider: str, model: str, number: int, folder: str) -> Reply:
    """`number`: how many answers of the conversation came before it."""
    usage = _USAGE | step.get("usage", {})
    prefix = _CALL_IDS.get(provider, "call_")
    calls = tuple(
        Call(
            call["name"],
            {
                key: value.replace("{{dir}}", folder) if isinstance(value, str) else value
                for key, value in call.get("args", {}).items()
            },
            id=f"{prefix}s{number}t{index}",
            raw=call.get("raw"),
        )
        for index, call in enumerate(step.get("tools", ()))
    )
    finish = step.get("finish")
    is_routed = provider == "openrouter"
    counts_writes = provider in {"anthropic", "amazon-bedrock", "openrouter"}
    written = usage["write"] if counts_writes else 0
    whole_output = provider in {"anthropic", "amazon-bedrock"}
    hidden = f"red-s{number}" if step.get("redacted") else ""
    if provider == "amazon-bedrock":
        hidden = base64.b64encode(hidden.encode()).decode()
    signature = f"{_SIGNATURES.get(provider, 'sig-s')}{number}"
    fields: Json = {
        "text": step.get("text", ""),
        "reasoning": step.get("reasoning", ""),
        "redacted": hidden,
        "signature": str(number) if is_routed else signature,
        "calls": calls,
        "chunk_chars": _CHUNK_CHARS,
        "finish": _CUT_SHORT.get(provider, finish) if finish == "length" else finish,
        "input_tokens": usage["in"] - usage["cached"] - written,
        "cache_read_tokens": usage["cached"],
        "cache_write_tokens": written,
        "output_tokens": usage["out"] - (0 if whole_output else usage["reasoning"]),
        "reasoning_tokens": 0 if whole_output else usage["reasoning"],
    }
    return Routed(**fields, format=_format_of(model)) if is_routed else Reply(**fields)


def _format_of(model: str) -> str:
    formats = {"claude": "anthropic-claude-v1", "gpt": "openai-responses-v1",
               "gemini": "google-gemini-v1"}  # fmt: skip
    return next((form for name, form in formats.items() if name in model), "unknown")


def error_of(error: Json, *, provider: str) -> Reply:
    """The answer of a vendor that refuses."""
    kind = error["kind"]
    status = _STATUS[kind]
    named = _NAMES.get(provider, _NAMES["openai"])[list(_STATUS).index(kind)]
    said = f"A refusal of the kind {kind}."
    headers = {"x-amzn-errortype": named} if provider == "amazon-bedrock" else {}
    if (wait_ms := error.get("retry_after_ms")) is not None:
        headers["retry-after-ms"] = str(wait_ms)
    match provider:
        case "anthropic":
            body: Json = {"type": "error", "error": {"type": named, "message": said}}
        case "google":
            body = {"error": {"code": status, "message": said, "status": named}}
        case "amazon-bedrock":
            body = {"message": said}
        case "openrouter":
            upstream = kind not in {"auth", "rate"}
            body = {"error": {"message": "Provider returned error" if upstream else said,
                              "code": status}}  # fmt: skip
        case _:
            body = {"error": {"message": said, "type": named, "param": None, "code": named}}
    return Reply(status=status, error=body, headers=headers)
