from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from providers.llm.json import JsonObject
from providers.llm.sign_in import (
    Grant,
    Http,
    Method,
    Prompt,
    SignIn,
    When,
    methods_of,
    register_sign_in,
    sign_in_of,
)
from providers.llm.sign_in.errors import BadInput, Unavailable
from providers.llm.sign_in.methods import matching
from providers.llm.sign_in.openai import plan_models
from tests.providers.llm.sign_in.test_pages import known
from tests.providers.llm.sign_in.vendors import OpenAIServer


class Acme(SignIn):
    """A provider that this package has never heard of."""


async def test_a_provider_is_registered_from_outside() -> None:
    register_sign_in(Acme("acme-of-tests", Method("key", "key", "Acme key")))
    assert isinstance(sign_in_of("acme-of-tests"), Acme)
    assert [method.label for method in methods_of("acme-of-tests")] == ["Acme key"]


WHO = Prompt("who", "Who?", read=matching(r"[a-z]+", "Only letters."))
WHERE = Prompt("where", "Where?", is_required=False, when=When("who", "neq", "nobody"))


@pytest.mark.parametrize(
    ("inputs", "answers"),
    [
        ({"who": " ann ", "where": "here", "more": "x"}, {"who": "ann", "where": "here"}),
        ({"who": "ann"}, {"who": "ann"}),
        ({"who": "nobody", "where": "here"}, {"who": "nobody"}),
    ],
)
def test_only_what_is_asked_is_kept(inputs: dict[str, str], answers: dict[str, str]) -> None:
    assert Method("key", "key", "Key", (WHO, WHERE)).checked(inputs) == answers


@pytest.mark.parametrize("who", ["", "Ann", "a" * 600])
def test_each_answer_that_is_wrong_is_named(who: str) -> None:
    with pytest.raises(BadInput) as caught:
        Method("key", "key", "Key", (WHO, WHERE)).checked({"who": who})
    assert set(caught.value.faults) == {"who"}


@pytest.mark.parametrize(
    ("provider_id", "inputs"),
    [
        ("cloudflare-workers-ai", {"accountId": "0123456789abcdef0123456789abcdef"}),
        ("cloudflare-ai-gateway", {"accountId": "0123456789abcdef", "gatewayId": "my-gate"}),
        ("azure", {"resourceName": "res-1"}),
    ],
)
def test_answers_to_prompts_become_the_connection_of_a_key(
    provider_id: str, inputs: dict[str, str]
) -> None:
    grant = known(provider_id).with_key("key", inputs, "key-1")
    assert grant.connection == inputs
    assert grant.api_key.reveal() == "key-1"
    for name in inputs:
        with pytest.raises(BadInput) as caught:
            known(provider_id).with_key("key", {**inputs, name: "a/b"}, "key-1")
        assert set(caught.value.faults) == {name}


def test_a_plan_of_chatgpt_includes_few_models_and_costs_nothing() -> None:
    names = ["gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark", "gpt-6.1", "gpt-5.10"]
    others = ["gpt-5.3", "gpt-5", "gpt-4.1", "gpt-4o", "o3", "gpt-5.4-nano", "gpt-6"]
    described: JsonObject = {"cost": {"input": 1, "output": 2}, "limit": {"context": 1}}
    found = plan_models(dict.fromkeys([*names, *others], described))
    assert set(found) == set(names)
    assert found["gpt-5.5"]["limit"] == {"context": 400_000, "input": 272_000, "output": 128_000}
    assert found["gpt-5.4"]["limit"] == {"context": 1}
    assert {str(one["cost"]) for one in found.values()} == {
        "{'input': 0, 'output': 0, 'cache_read': 0, 'cache_write': 0}"
    }


class Slow(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async def body() -> AsyncIterator[bytes]:
            while True:
                yield b" "
                await asyncio.sleep(0.02)

        return httpx.Response(200, content=body())


async def test_an_answer_that_never_ends_is_given_up() -> None:
    async with asyncio.timeout(5):
        with pytest.raises(Unavailable):
            await Http(Slow(), timeout_s=0.1).ask("GET", "https://a.example/")


async def test_no_answer_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503, text="token-in-an-answer")

    http = Http(httpx.MockTransport(answer))
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable):
        await http.ask("POST", "https://a.example/?code=in-an-address", form={"code": "in-a-form"})
    assert "a.example" in caplog.text
    for secret in ("token-in-an-answer", "in-an-address", "in-a-form"):
        assert secret not in caplog.text


@pytest.mark.parametrize(
    ("lifetime", "at_least", "at_most"),
    [("60", 59, 61), (60, 59, 61), (1e308, 86_400, 1e9), ("1e999", 86_400, 1e9)],
)
async def test_a_lifetime_is_read_however_it_is_written(
    lifetime: Any, at_least: float, at_most: float
) -> None:
    server = OpenAIServer()
    server.lifetime = lifetime
    begun = await known("openai").begin("browser", {}, Http(server))
    grant = await known("openai").finish(begun.state, server.allow(begun.url), Http(server))
    assert grant.is_due(datetime.now(UTC), at_most)
    assert not grant.is_due(datetime.now(UTC), at_least - 1)


async def test_a_lifetime_that_is_none_is_an_hour(subtests: pytest.Subtests) -> None:
    for lifetime in [None, 0, -5, "soon", [], "nan"]:
        with subtests.test(lifetime=lifetime):
            server = OpenAIServer()
            server.lifetime = lifetime
            begun = await known("openai").begin("browser", {}, Http(server))
            grant = await known("openai").finish(begun.state, server.allow(begun.url), Http(server))
            assert grant.is_due(datetime.now(UTC), 3_600)
            assert not grant.is_due(datetime.now(UTC), 3_500)


@pytest.mark.parametrize("provider_id", ["openai", "xai", "gitlab"])
async def test_a_pasted_key_is_not_revoked(provider_id: str) -> None:
    server = OpenAIServer()
    grant = known(provider_id).with_key("key", {}, "sk-1")
    await known(provider_id).revoke(grant, Http(server))
    assert not server.requests


async def test_a_name_that_is_no_name_is_not_shown() -> None:
    server = OpenAIServer()
    server.email = "a\x1b[31m"
    begun = await known("openai").begin("browser", {}, Http(server))
    grant = await known("openai").finish(begun.state, server.allow(begun.url), Http(server))
    assert grant.account == ""


def test_a_grant_with_secrets_has_no_api_key() -> None:
    grant = known("azure").with_key("key", {"resourceName": "res-1"}, "key-1")
    assert not Grant(grant.access, secrets={"entraToken": grant.access}).api_key
