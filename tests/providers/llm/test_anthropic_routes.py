from __future__ import annotations

from typing import Any

import pytest

from providers.llm.secret import Secret
from tests.providers.llm.exchange import a_model, a_request, ask
from tests.providers.llm.servers_messages import MessagesServer, text

NPM = "@ai-sdk/anthropic"


def claude(provider: str = "anthropic", **fields: Any) -> Any:
    return a_model(NPM, "claude-sonnet-4-5", provider, **fields)


@pytest.fixture
def server() -> MessagesServer:
    return MessagesServer()


async def test_headers_of_the_settings_are_taken_up(server: MessagesServer) -> None:
    server.answer(text("Hello."))
    headers = {"Anthropic-Beta": "context-1m", "X-Team": "a"}
    await ask(a_request(claude(headers=headers), "Hi", tools=()), server)
    sent = server.requests[0].headers
    assert sent.get_list("anthropic-beta") == [
        "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14,context-1m"
    ]
    assert sent["x-team"] == "a"


async def test_vertex_has_the_version_in_the_body() -> None:
    server = MessagesServer(body_version="vertex-2023-10-16")
    server.answer(text("Hello."))
    model = a_model(
        "@ai-sdk/google-vertex/anthropic",
        "claude-sonnet-4-5@20250929",
        "google-vertex-anthropic",
        connection={"project": "p1", "location": "global"},
        secrets={"accessToken": Secret("ya29.token")},
    )
    assert (await ask(a_request(model, "Hi"), server)).text == "Hello."
    request = server.requests[0]
    assert str(request.url) == (
        "https://aiplatform.googleapis.com/v1/projects/p1/locations/global/publishers/anthropic/"
        "models/claude-sonnet-4-5@20250929:streamRawPredict"
    )
    assert request.headers["authorization"] == "Bearer ya29.token"
    assert not {"anthropic-version", "anthropic-beta", "x-api-key"} & set(request.headers)
    assert "eager_input_streaming" not in server.bodies[0]["tools"][0]


@pytest.mark.parametrize(
    ("npm", "provider", "connection", "word"),
    [
        ("@ai-sdk/google-vertex/anthropic", "google-vertex", {"location": "us"}, "project"),
        ("@ai-sdk/google-vertex/anthropic", "google-vertex", {"project": "p"}, "location"),
        (NPM, "azure", {}, "resourceName"),
        (NPM, "azure", {"resourceName": "evil.test/"}, "resourceName"),
    ],
)
async def test_a_missing_setting_is_named(
    server: MessagesServer, npm: str, provider: str, connection: dict[str, str], word: str
) -> None:
    model = a_model(npm, "claude-sonnet-4-5", provider, connection=connection)
    said = await ask(a_request(model, "Hi"), server)
    assert word in said.failed.error.message
    assert not server.requests


@pytest.mark.parametrize(
    ("provider", "base", "resource", "url"),
    [
        ("anthropic", "https://proxy.test/", "", "https://proxy.test/v1/messages"),
        ("acme", "https://acme.test/api/v1", "", "https://acme.test/api/v1/messages"),
        ("azure", "https://x.test/openai", "", "https://x.test/openai/messages"),
        ("azure", "", "res", "https://res.services.ai.azure.com/anthropic/v1/messages"),
        (
            "azure",
            "https://res.openai.azure.com/openai",
            "",
            "https://res.services.ai.azure.com/anthropic/v1/messages",
        ),
        (
            "azure",
            "https://res.services.ai.azure.com/anthropic",
            "",
            "https://res.services.ai.azure.com/anthropic/v1/messages",
        ),
    ],
)
async def test_addresses(
    server: MessagesServer, provider: str, base: str, resource: str, url: str
) -> None:
    server.answer(text("Hello."))
    connection = {"resourceName": resource} if resource else {}
    model = claude(provider=provider, base_url=base or None, connection=connection)
    await ask(a_request(model, "Hi"), server)
    assert str(server.requests[0].url) == url


async def test_zen_has_headers_of_its_own_and_no_betas(server: MessagesServer) -> None:
    server.answer(text("Hello."))
    model = claude(provider="opencode", base_url="https://opencode.ai/zen/v1")
    await ask(a_request(model, "Hi", prompt_id="msg_1"), server)
    headers = server.requests[0].headers
    assert headers["x-opencode-session"] == "ses_1"
    assert headers["x-opencode-request"] == "msg_1"
    assert headers["anthropic-beta"] == "structured-outputs-2025-11-13"
    assert "x-session-id" not in headers
