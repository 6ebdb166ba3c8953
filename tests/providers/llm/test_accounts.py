"""Vendors whose models are at an address of one's own: Snowflake, Cloudflare, enterprises."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from providers.llm.errors import RefusedRequest
from providers.llm.events import Failed, Finished, FinishReason
from providers.llm.facts import Capabilities
from providers.llm.messages import ResolvedModel
from providers.llm.route import register, route_of
from providers.llm.secret import Secret
from tests.providers.llm.conversation import KEY, answered, model_of, play, request_of
from tests.providers.llm.servers_chat import delta
from tests.providers.llm.servers_messages import MessagesServer, text
from tests.providers.llm.servers_responses import ResponsesServer, answer, message
from tests.providers.llm.talk import sse

COMPATIBLE = "@ai-sdk/openai-compatible"
ACCOUNT = "0123456789abcdef0123456789abcdef"
GATE = {"accountId": ACCOUNT, "gatewayId": "gate"}


class ChatServer(httpx.AsyncBaseTransport):
    """Refuses fields that its vendor does not know."""

    def __init__(self, *frames: Any, known: set[str], error: str = "") -> None:
        self.frames = frames
        self.known = {"model", "messages", "tools", "tool_choice", "stream", "stream_options"}
        self.known |= known
        self.error = error
        self.requests: list[httpx.Request] = []
        self.bodies: list[Any] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.bodies.append(json.loads(await request.aread()))
        wrong = self.error or ", ".join(sorted(set(self.bodies[-1]) - self.known))
        if wrong:
            return httpx.Response(400, content=_one(json.dumps({"message": wrong}).encode()))
        return sse(*self.frames, "[DONE]")


async def _one(body: bytes) -> Any:
    yield body


def snowflake(**fields: Any) -> ResolvedModel:
    fields = {"connection": {"account": "myorg-acc"}, **fields}
    return model_of(COMPATIBLE, "snowflake-cortex", "claude-5", **fields)


def cortex(**fields: Any) -> ChatServer:
    # Its first chunk has an empty role.
    frames = (delta(role="", content="Hi."), delta("stop"))
    return ChatServer(*frames, known={"max_completion_tokens", "temperature"}, **fields)


async def test_snowflake_is_asked_at_its_account_with_the_newer_limit() -> None:
    server = cortex()
    await answered(request_of(snowflake()), server)
    request = server.requests[0]
    assert str(request.url) == (
        "https://myorg-acc.snowflakecomputing.com/api/v2/cortex/v1/chat/completions"
    )
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert server.bodies[0]["max_completion_tokens"] == 32_000


async def test_a_conversation_that_is_complete_is_no_error() -> None:
    events = await play(request_of(snowflake()), cortex(error="Conversation complete."))
    (end,) = events
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.STOP


async def test_any_other_error_of_snowflake_is_one() -> None:
    (end,) = await play(request_of(snowflake()), cortex(error="model is unknown"))
    assert isinstance(end, Failed)


@pytest.mark.parametrize("account", ["", "evil.example/", "a@b"])
async def test_an_account_that_is_none_is_not_asked(account: str) -> None:
    server = cortex()
    (end,) = await play(request_of(snowflake(connection={"account": account})), server)
    assert isinstance(end, Failed)
    assert isinstance(end.error, RefusedRequest)
    assert not server.requests


async def test_workers_ai_is_asked_at_its_account() -> None:
    model = model_of(
        COMPATIBLE, "cloudflare-workers-ai", "@cf/qwen/qwq-32b", connection={"accountId": ACCOUNT}
    )
    server = ChatServer(delta("stop", content="Hi."), known={"max_tokens"})
    await answered(request_of(model), server)
    request = server.requests[0]
    assert str(request.url) == (
        f"https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/v1/chat/completions"
    )
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert server.bodies[0]["max_tokens"] == 32_000


def gateway(name: str, npm: str = "ai-gateway-provider", **fields: Any) -> ResolvedModel:
    fields = {"connection": GATE, **fields}
    return model_of(npm, "cloudflare-ai-gateway", name, **fields)


@pytest.mark.parametrize("npm", ["ai-gateway-provider", "@ai-sdk/anthropic", "@ai-sdk/openai"])
async def test_a_key_of_the_gateway_never_goes_to_the_vendor_behind_it(npm: str) -> None:
    options = {"thinking": {"type": "enabled"}, "effort": "high", "include": ["x"], "store": False}
    server = ChatServer(delta("stop", content="Hi."), known={"max_tokens", "prompt_cache_key"})
    await answered(request_of(gateway("anthropic/claude-5", npm, options=options)), server)
    request = server.requests[0]
    assert str(request.url) == (
        f"https://gateway.ai.cloudflare.com/v1/{ACCOUNT}/gate/compat/chat/completions"
    )
    assert request.headers["cf-aig-authorization"] == f"Bearer {KEY}"
    assert "authorization" not in request.headers


@pytest.mark.parametrize(
    ("name", "reasons", "is_limited"),
    [
        ("openai/gpt-5.4", True, False),
        ("openai/gpt-4.1", False, True),
        ("anthropic/claude-5", True, True),
    ],
)
async def test_models_of_openai_that_reason_are_told_no_limit(
    name: str, reasons: bool, is_limited: bool
) -> None:
    model = gateway(name, capabilities=Capabilities(reasoning=reasons))
    known = {"max_tokens", "reasoning_effort"}
    server = ChatServer(delta("stop", content="Hi."), known=known)
    await answered(request_of(model), server)
    assert ("max_tokens" in server.bodies[0]) == is_limited


@pytest.mark.parametrize("connection", [{}, {"accountId": ACCOUNT}, {**GATE, "gatewayId": "a/b"}])
async def test_a_gateway_that_is_none_is_not_asked(connection: dict[str, str]) -> None:
    server = ChatServer(known=set())
    (end,) = await play(request_of(gateway("openai/gpt-5.4", connection=connection)), server)
    assert isinstance(end, Failed)
    assert isinstance(end.error, RefusedRequest)
    assert not server.requests


@pytest.mark.parametrize(
    ("base_url", "domain", "url"),
    [
        (None, "https://Acme.ghe.com/", "https://copilot-api.acme.ghe.com/chat/completions"),
        (
            "https://api.githubcopilot.com/",
            "acme.ghe.com",
            "https://copilot-api.acme.ghe.com/chat/completions",
        ),
        ("https://proxy.example", "acme.ghe.com", "https://proxy.example/chat/completions"),
        (None, "", "https://api.githubcopilot.com/chat/completions"),
    ],
)
def test_copilot_of_an_enterprise_is_at_its_own_address(
    base_url: str | None, domain: str, url: str
) -> None:
    model = model_of(
        "@ai-sdk/github-copilot",
        "github-copilot",
        "claude-5",
        base_url=base_url,
        connection={"enterpriseUrl": domain},
    )
    assert route_of(request_of(model)).url == url


def test_a_domain_that_is_none_is_refused() -> None:
    model = model_of(
        "@ai-sdk/github-copilot", "github-copilot", "c", connection={"enterpriseUrl": "a.b/c?d"}
    )
    with pytest.raises(RefusedRequest, match="company"):
        route_of(request_of(model))


async def test_azure_takes_a_token_of_entra_before_a_key() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    model = model_of(
        "@ai-sdk/azure",
        "azure",
        "gpt-5.4",
        connection={"resourceName": "res-1"},
        secrets={"entraToken": Secret("eyJ.entra")},
    )
    await answered(request_of(model), server)
    sent = server.requests[0].headers
    assert sent["authorization"] == "Bearer eyJ.entra"
    assert "api-key" not in sent


async def test_claude_on_azure_takes_a_token_of_entra_too() -> None:
    server = MessagesServer()
    server.answer(text("Hello."))
    model = model_of(
        "@ai-sdk/anthropic",
        "azure",
        "claude-sonnet-4-5",
        connection={"resourceName": "res-1"},
        secrets={"entraToken": Secret("eyJ.entra")},
    )
    await answered(request_of(model), server)
    sent = server.requests[0].headers
    assert sent["authorization"] == "Bearer eyJ.entra"
    assert "x-api-key" not in sent


async def test_one_provider_of_a_package_can_be_called_otherwise() -> None:
    other = model_of(COMPATIBLE, "acme-of-tests", "m", base_url="https://a.example")
    register(
        COMPATIBLE, lambda request: route_of(request_of(snowflake())), provider_id="acme-of-tests"
    )
    assert "snowflake" in route_of(request_of(other)).url
    same = model_of(COMPATIBLE, "b-of-tests", "m", base_url="https://a.example")
    assert route_of(request_of(same)).url == "https://a.example/chat/completions"
