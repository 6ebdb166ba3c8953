from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from providers.llm.adapters.gitlab import vendor_name
from providers.llm.errors import RefusedRequest
from providers.llm.events import Failed
from providers.llm.messages import ResolvedModel
from providers.llm.route import route_of
from providers.llm.secret import Secret
from tests.providers.llm.conversation import KEY, answered, model_of, play, request_of
from tests.providers.llm.servers_chat import delta
from tests.providers.llm.servers_messages import MessagesServer, text
from tests.providers.llm.servers_responses import ResponsesServer, answer, message
from tests.providers.llm.talk import sse

SECRETS = {"duoToken": Secret("duo-1"), "x-gitlab-realm": Secret("saas")}
GATEWAY = "https://cloud.gitlab.com/ai/v1/proxy"


def duo(name: str, **fields: Any) -> ResolvedModel:
    return model_of("gitlab-ai-provider", "gitlab", name, **{"secrets": SECRETS, **fields})


def checked(request: httpx.Request, path: str) -> None:
    assert str(request.url) == f"{GATEWAY}/{path}"
    assert request.headers["authorization"] == "Bearer duo-1"
    assert request.headers["x-gitlab-realm"] == "saas"
    assert "x-api-key" not in request.headers
    assert KEY not in str(request.headers)


async def test_claude_is_called_by_its_own_wire() -> None:
    server = MessagesServer()
    server.answer(text("Hello."))
    await answered(request_of(duo("duo-chat-opus-4-5")), server)
    checked(server.requests[0], "anthropic/v1/messages")
    assert server.bodies[0]["model"] == "claude-opus-4-5-20251101"


async def test_codex_and_newer_models_of_openai_are_called_by_responses() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(duo("duo-chat-gpt-5-6-sol")), server)
    checked(server.requests[0], "openai/v1/responses")
    assert server.bodies[0]["model"] == "gpt-5.6-sol"
    assert server.bodies[0]["store"] is False


async def test_older_ones_are_called_by_chat_completions() -> None:
    requests: list[httpx.Request] = []

    def reply(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return sse(delta("stop", content="Hi."), "[DONE]")

    await answered(request_of(duo("duo-chat-gpt-5-4")), httpx.MockTransport(reply))
    checked(requests[0], "openai/v1/chat/completions")
    body = json.loads(requests[0].content)
    assert body["model"] == "gpt-5.4-2026-03-05"
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 32_000


def test_models_have_the_names_of_their_vendors(subtests: pytest.Subtests) -> None:
    cases = [
        ("duo-chat-fable-5-1", "claude-fable-5-1", "anthropic/v1/messages"),
        ("duo-chat-haiku-4-5", "claude-haiku-4-5-20251001", "anthropic/v1/messages"),
        ("duo-chat-gpt-5-mini", "gpt-5-mini-2025-08-07", "openai/v1/chat/completions"),
        ("duo-chat-gpt-5-4-nano", "gpt-5.4-nano", "openai/v1/chat/completions"),
        ("duo-chat-gpt-5-codex", "gpt-5-codex", "openai/v1/responses"),
        ("duo-chat-gpt-5-2-codex", "gpt-5.2-codex", "openai/v1/responses"),
        ("duo-chat-gpt-6-astra", "gpt-6-astra", "openai/v1/responses"),
    ]
    for name, called, path in cases:
        with subtests.test(name=name):
            assert vendor_name(name) == called
            assert route_of(request_of(duo(name))).url == f"{GATEWAY}/{path}"


async def test_without_a_token_of_the_gateway_nothing_is_sent() -> None:
    (end,) = await play(request_of(duo("duo-chat-opus-4-6", secrets={})), MessagesServer())
    assert isinstance(end, Failed)
    assert isinstance(end.error, RefusedRequest)
    assert "Sign in" in end.error.message
