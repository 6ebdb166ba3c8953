from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from providers.llm.copilot_models import read_copilot_models
from providers.llm.errors import (
    AuthError,
    NetworkError,
    ProviderError,
    RefusedRequest,
    ServerError,
)
from providers.llm.messages import ResolvedModel
from providers.llm.model_list import list_models, read_models
from providers.llm.secret import Secret
from providers.llm.sign_in import Http
from tests.providers.llm.conversation import KEY, model_of


class ListServer(httpx.AsyncBaseTransport):
    """Answers one address to who sends these headers."""

    def __init__(self, url: str, body: Any, **headers: str) -> None:
        self.url = url
        self.body = body
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if isinstance(self.body, Exception):
            raise self.body
        sent = {name: request.headers.get(name) for name in self.headers}
        if request.method != "GET" or sent != self.headers:
            error = {"error": {"message": f"bad key {KEY}", "type": "authentication_error"}}
            return httpx.Response(401, content=_one(json.dumps(error).encode()))
        if str(request.url) != self.url:
            return httpx.Response(404, content=_one(b"404 page not found"))
        body = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return httpx.Response(200, content=_one(body.encode()))


async def _one(body: bytes) -> Any:
    yield body


def bearer(url: str, *items: Any) -> ListServer:
    return ListServer(url, {"object": "list", "data": [*items]}, authorization=f"Bearer {KEY}")


async def listed(model: ResolvedModel, server: ListServer) -> dict[str, Any]:
    return await list_models(model, Http(server))


async def test_a_server_is_asked_below_its_address() -> None:
    server = bearer(
        "http://gpu.example:8000/v1/models", {"id": "qwen", "object": "model", "max_model_len": 9}
    )
    model = model_of(
        "@ai-sdk/openai-compatible", "gpu", "any", base_url="http://gpu.example:8000/v1/"
    )
    assert await listed(model, server) == {"qwen": {"name": "qwen", "limit": {"context": 9}}}


async def test_a_server_without_keys_is_sent_none() -> None:
    model = model_of(
        "@ai-sdk/openai-compatible", "gpu", "any", base_url="http://a.example", api_key=Secret("")
    )
    server = ListServer("http://a.example/models", {"data": [{"id": "m"}]})
    server.headers = {"authorization": None}  # type: ignore[dict-item]
    assert set(await listed(model, server)) == {"m"}


VENDORS = [
    ("@ai-sdk/openai", "openai", "https://api.openai.com/v1/models"),
    ("@ai-sdk/groq", "groq", "https://api.groq.com/openai/v1/models"),
    ("@ai-sdk/mistral", "mistral", "https://api.mistral.ai/v1/models"),
    ("@ai-sdk/xai", "xai", "https://api.x.ai/v1/models"),
    ("@openrouter/ai-sdk-provider", "openrouter", "https://openrouter.ai/api/v1/models"),
    ("@ai-sdk/deepinfra", "deepinfra", "https://api.deepinfra.com/v1/openai/models"),
]


async def test_vendors_list_where_they_answer(subtests: pytest.Subtests) -> None:
    for npm, provider_id, url in VENDORS:
        with subtests.test(npm=npm):
            found = await listed(model_of(npm, provider_id, "any"), bearer(url, {"id": "m-1"}))
            assert set(found) == {"m-1"}


async def test_azure_lists_with_its_own_header_or_a_token_of_entra() -> None:
    url = "https://res-1.openai.azure.com/openai/v1/models?api-version=v1"
    model = model_of("@ai-sdk/azure", "azure", "any", connection={"resourceName": "res-1"})
    assert await listed(model, ListServer(url, {"data": [{"id": "m"}]}, api_key=KEY))
    token = {"entraToken": Secret("eyJ.1")}
    model = model_of(
        "@ai-sdk/azure", "azure", "any", connection={"resourceName": "res-1"}, secrets=token
    )
    server = ListServer(url, {"data": [{"id": "m"}]}, authorization="Bearer eyJ.1")
    assert await listed(model, server)


async def test_anthropic_lists_by_its_own_headers() -> None:
    server = ListServer(
        "https://api.anthropic.com/v1/models?limit=1000",
        {"data": [{"type": "model", "id": "claude-5", "display_name": "Claude 5"}]},
        x_api_key=KEY,
        anthropic_version="2023-06-01",
    )
    found = await listed(model_of("@ai-sdk/anthropic", "anthropic", "any"), server)
    assert found == {"claude-5": {"name": "Claude 5"}}


async def test_google_lists_what_chats() -> None:
    server = ListServer(
        "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
        {
            "models": [
                {
                    "name": "models/gemini-3-pro",
                    "displayName": "Gemini 3 Pro",
                    "inputTokenLimit": 1_048_576,
                    "outputTokenLimit": 65_536,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                    "thinking": True,
                },
                {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
            ]
        },
        x_goog_api_key=KEY,
    )
    assert await listed(model_of("@ai-sdk/google", "google", "any"), server) == {
        "gemini-3-pro": {
            "name": "Gemini 3 Pro",
            "reasoning": True,
            "limit": {"context": 1_048_576, "output": 65_536},
        }
    }


OPENROUTER = {
    "id": "acme/one",
    "name": "Acme: One",
    "context_length": 200_000,
    "architecture": {"input_modalities": ["text", "image", "file"], "output_modalities": ["text"]},
    "pricing": {
        "prompt": "0.000003",
        "completion": "0.000015",
        "input_cache_read": "0.0000003",
        "image": "0.0048",
    },
    "top_provider": {"context_length": 128_000, "max_completion_tokens": 32_000},
    "supported_parameters": ["tools", "reasoning", "max_tokens"],
}


def test_openrouter_says_the_most() -> None:
    painter = {**OPENROUTER, "id": "p", "architecture": {"output_modalities": ["image"]}}
    assert read_models({"data": [OPENROUTER, painter]}) == {
        "acme/one": {
            "name": "Acme: One",
            "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
            "attachment": True,
            "tool_call": True,
            "reasoning": True,
            "temperature": False,
            "limit": {"context": 128_000, "output": 32_000},
            "cost": {"input": 3.0, "output": 15.0, "cache_read": 0.3},
        }
    }


@pytest.mark.parametrize(
    "pricing",
    [{"prompt": "-1", "completion": "-1"}, {"prompt": "x", "completion": "1"}, {"prompt": "1"}, 7],
)
def test_a_price_that_says_nothing_is_none(pricing: Any) -> None:
    assert read_models([{"id": "auto", "pricing": pricing}]) == {"auto": {"name": "auto"}}


def test_entries_that_are_none_are_left_out() -> None:
    odd = [{"id": ""}, {"id": 7}, "x", None, {"id": "a\nb"}, {"id": "x" * 300}]
    embeds = {"id": "embed", "capabilities": {"completion_chat": False}}
    assert set(read_models([*odd, embeds, {"id": "ok"}])) == {"ok"}


@pytest.mark.parametrize("body", ["<html>", "7", '{"ok": true}', "[" * 5_000])
async def test_what_is_no_list_is_said(body: str) -> None:
    server = ListServer("https://api.openai.com/v1/models", body)
    with pytest.raises(ServerError, match="not with a list"):
        await listed(model_of("@ai-sdk/openai", "openai", "any"), server)


async def test_a_key_that_is_refused_is_an_error_without_the_key() -> None:
    model = model_of("@ai-sdk/openai", "openai", "any")
    server = bearer("https://api.openai.com/v1/models")
    server.headers["authorization"] = "Bearer another"
    with pytest.raises(AuthError) as caught:
        await listed(model, server)
    assert KEY not in str(caught.value)
    assert KEY not in caught.value.response_body


async def test_a_server_that_does_not_answer_may_be_asked_again() -> None:
    server = ListServer("", httpx.ConnectError("no"))
    with pytest.raises(NetworkError):
        await listed(model_of("@ai-sdk/openai", "openai", "any"), server)


async def test_a_server_without_a_list_says_what_to_do() -> None:
    model = model_of("@ai-sdk/openai-compatible", "a", "any", base_url="https://a.example/wrong")
    with pytest.raises(RefusedRequest, match="No model list"):
        await listed(model, bearer("https://a.example/v1/models"))


@pytest.mark.parametrize(
    ("npm", "provider_id", "fields"),
    [
        ("@ai-sdk/amazon-bedrock", "amazon-bedrock", {"connection": {"region": "us-east-1"}}),
        ("@ai-sdk/cohere", "cohere", {}),
        ("@ai-sdk/openai", "openai", {"connection": {"chatgpt_account": "acct-1"}}),
    ],
)
async def test_who_lists_nothing_is_not_asked(
    npm: str, provider_id: str, fields: dict[str, Any]
) -> None:
    with pytest.raises(RefusedRequest, match="does not list"):
        await listed(model_of(npm, provider_id, "any", **fields), ListServer("", ValueError()))


def copilot_model(**fields: Any) -> dict[str, Any]:
    supports = {
        "tool_calls": True,
        "vision": True,
        "streaming": True,
        "reasoning_effort": ["low", "high"],
    }
    limits = {
        "max_context_window_tokens": 400_000,
        "max_output_tokens": 128_000,
        "max_prompt_tokens": 272_000,
    }
    prices = {
        "batch_size": 1_000_000,
        "default": {
            "input_price": 250,
            "output_price": 1_500,
            "cache_price": 25,
            "context_max": 272_000,
        },
        "long_context": {"input_price": 500, "output_price": 2_250, "cache_price": 50},
    }
    return {
        "id": "gpt-5.4",
        "name": "GPT-5.4",
        "version": "gpt-5.4-2026-03-05",
        "model_picker_enabled": True,
        "policy": {"state": "enabled"},
        "supported_endpoints": ["/responses", "/chat/completions"],
        "capabilities": {
            "family": "gpt-5.4",
            "type": "chat",
            "limits": {**limits, **fields.pop("limits", {})},
            "supports": {**supports, **fields.pop("supports", {})},
        },
        "billing": {"token_prices": prices},
        **fields,
    }


async def test_copilot_lists_what_a_person_may_choose() -> None:
    hidden = copilot_model(id="hidden", model_picker_enabled=False)
    off = copilot_model(id="off", policy={"state": "disabled"})
    endless = copilot_model(id="endless", limits={"max_output_tokens": None})
    server = bearer(
        "https://api.githubcopilot.com/models", copilot_model(), hidden, off, endless, {"id": 1}
    )
    server.headers["x-github-api-version"] = "2026-06-01"
    model = model_of("@ai-sdk/github-copilot", "github-copilot", "gpt-5.4")
    assert await listed(model, server) == {
        "gpt-5.4": {
            "name": "GPT-5.4",
            "family": "gpt-5.4",
            "release_date": "2026-03-05",
            "attachment": True,
            "reasoning": True,
            "reasoning_options": [{"type": "effort", "values": ["low", "high"]}],
            "tool_call": True,
            "structured_output": False,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "limit": {"context": 400_000, "input": 272_000, "output": 128_000},
            "cost": {
                "input": 2.5,
                "output": 15.0,
                "cache_read": 0.25,
                "tiers": [
                    {
                        "input": 5.0,
                        "output": 22.5,
                        "cache_read": 0.5,
                        "tier": {"type": "context", "size": 272_000},
                    }
                ],
            },
            "supported_endpoints": ["/responses", "/chat/completions"],
        }
    }


async def test_an_enterprise_lists_at_its_own_address() -> None:
    server = bearer("https://copilot-api.acme.ghe.com/models", copilot_model())
    model = model_of(
        "@ai-sdk/github-copilot",
        "github-copilot",
        "claude-5",
        base_url="https://api.githubcopilot.com",
        connection={"enterpriseUrl": "acme.ghe.com", "supported_endpoints": "/v1/messages"},
    )
    assert set(await listed(model, server)) == {"gpt-5.4"}


@pytest.mark.parametrize(
    ("supports", "options", "is_reasoning"),
    [
        ({}, [], False),
        ({"adaptive_thinking": True}, [], True),
        (
            {"max_thinking_budget": 32_000, "min_thinking_budget": 1_024},
            [{"type": "budget_tokens", "min": 1_024, "max": 32_000}],
            True,
        ),
    ],
)
def test_how_a_model_thinks_is_read(
    supports: dict[str, Any], options: list[Any], is_reasoning: bool
) -> None:
    model = copilot_model(supports={"reasoning_effort": [], "vision": False, **supports})
    found = read_copilot_models({"data": [model]})["gpt-5.4"]
    assert (found["reasoning_options"], found["reasoning"]) == (options, is_reasoning)
    assert found["attachment"] is False


@pytest.mark.parametrize("billing", [None, {}, {"token_prices": {"batch_size": 0, "default": {}}}])
def test_a_model_without_a_price_has_none(billing: Any) -> None:
    found = read_copilot_models({"data": [copilot_model(billing=billing)]})["gpt-5.4"]
    assert "cost" not in found


async def test_a_list_longer_than_any_is_not_read() -> None:
    body = json.dumps({"data": [{"id": "m", "x": "y" * 5_000_000}]})
    with pytest.raises(ProviderError):
        await listed(
            model_of("@ai-sdk/openai", "openai", "any"),
            ListServer("https://api.openai.com/v1/models", body),
        )
