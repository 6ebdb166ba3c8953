from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from providers.llm.adapters import litellm
from providers.llm.errors import AuthError, BadRequest, NetworkError, RefusedRequest
from providers.llm.events import FinishReason
from providers.llm.exchange import Exchange
from providers.llm.framing import UNREADABLE
from providers.llm.messages import Text, ToolCall, Usage
from providers.llm.secret import Secret
from tests.providers.llm.servers_chat import call
from tests.providers.llm.servers_litellm import (
    SERVICE_KEY,
    TOKEN,
    SapServer,
    WatsonxServer,
    chunk,
)
from tests.providers.llm.talk import ask, go_on, model, request

WATSONX = model("watsonx-ai-provider", "meta-llama/llama-3-70b", connection={"project": "p-1"})
SAP = model("@jerome-benoit/sap-ai-provider-v2", "gpt-4o", api_key=Secret(json.dumps(SERVICE_KEY)))
CALLS = [
    chunk(content="I look."),
    chunk(
        tool_calls=[
            call(0, "c1", '{"path":'),
        ]
    ),
    chunk(tool_calls=[{"index": 0, "function": {"arguments": '"a"}'}}]),
    chunk("tool_calls", tool_calls=[call(1, "c2", '{"path":"b"}')]),
]
DONE = [chunk(content="Both are "), chunk("stop", content="there."), "[DONE]"]
VENDORS = pytest.mark.parametrize(
    ("called", "server"), [(WATSONX, WatsonxServer), (SAP, SapServer)]
)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(litellm, "_exchange", Exchange())
    return iter(())


@pytest.fixture(autouse=True)
def of_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "WATSONX_TOKEN",
        "WATSONX_ZENAPIKEY",
        "WATSONX_URL",
        "OPENAI_API_KEY",
        "AICORE_SERVICE_KEY",
    ):
        monkeypatch.setenv(name, "of-the-operator")


@VENDORS
async def test_a_turn_with_two_calls_and_their_results(called: Any, server: Any) -> None:
    vendor = server(CALLS, DONE)
    asked = request(called, "Look at {{?both}}.")
    first = await ask(asked, vendor)
    assert first.message.content == (
        Text("I look."),
        ToolCall("c1", "read", {"path": "a"}),
        ToolCall("c2", "read", {"path": "b"}),
    )
    second = await ask(go_on(asked, first), vendor)
    assert second.text == "Both are there."
    assert second.finished.reason is FinishReason.STOP
    assert second.finished.usage == Usage(9, 4)
    assert "of-the-operator" not in json.dumps(vendor.bodies)


@VENDORS
async def test_a_token_is_asked_for_once(called: Any, server: Any) -> None:
    vendor = server(DONE, DONE)
    for _ in range(2):
        assert (await ask(request(called, "Hello"), vendor)).text == "Both are there."
    assert len([url for url in vendor.urls if "token" in url]) == 1


@VENDORS
async def test_no_redirect_is_followed(called: Any, server: Any) -> None:
    away = httpx.Response(307, headers={"location": "http://169.254.169.254/latest/meta-data"})
    vendor = server(away)
    failed = (await ask(request(called, "Hello"), vendor)).failed
    assert failed.error.status_code == 307
    assert not [url for url in vendor.urls if "169.254" in url]


@VENDORS
async def test_a_redirect_of_what_is_asked_before_is_not_followed_either(
    called: Any, server: Any
) -> None:
    class Elsewhere(server):  # type: ignore[misc]
        def aside(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(302, headers={"location": "http://127.0.0.1/secret"})

    vendor = Elsewhere()
    failed = (await ask(request(called, "Hello"), vendor)).failed
    assert failed.error.status_code == 302
    assert failed.is_free
    assert len(vendor.urls) == 1


@VENDORS
async def test_a_cut_is_a_network_error(called: Any, server: Any) -> None:
    failed = (await ask(request(called, "Hello"), server([chunk(content="Bo")]))).failed
    assert isinstance(failed.error, NetworkError)


async def test_watsonx_says_what_it_does_not_take() -> None:
    vendor = WatsonxServer(httpx.Response(404, json={
        "errors": [{"code": "model_not_supported", "message": "Model 'x' is not supported"}],
        "status_code": 404,
    }))  # fmt: skip
    failed = (await ask(request(WATSONX, "Hello"), vendor)).failed
    assert failed.error.message == "Model 'x' is not supported"


async def test_a_wrong_key_of_watsonx_is_refused_before_the_model() -> None:
    called = model(
        WATSONX.npm, "m", connection={"project": "p-1"}, api_key=Secret("key-of-another")
    )
    failed = (await ask(request(called, "Hello"), WatsonxServer())).failed
    assert isinstance(failed.error, BadRequest)
    assert failed.is_free


async def test_a_cluster_of_ones_own_takes_the_key_itself() -> None:
    seen: list[httpx.Request] = []

    def answer(asked: httpx.Request) -> httpx.Response:
        seen.append(asked)
        return httpx.Response(401, json={"errors": [{"message": "Who?"}]})

    called = model(
        WATSONX.npm, "m", connection={"project": "p"}, base_url="https://cpd.acme.example"
    )
    failed = (await ask(request(called, "Hello"), httpx.MockTransport(answer))).failed
    assert isinstance(failed.error, AuthError)
    assert [one.headers["authorization"] for one in seen] == ["ZenApiKey key-of-tests"]
    assert seen[0].url.host == "cpd.acme.example"


async def test_no_region_leads_elsewhere(subtests: pytest.Subtests) -> None:
    for region in ["evil.example/", "evil.example#", "US SOUTH", "..", "a@b"]:
        with subtests.test(region=region):
            called = model(WATSONX.npm, "m", connection={"project": "p", "region": region})
            vendor = WatsonxServer()
            assert isinstance(
                (await ask(request(called, "Hello"), vendor)).failed.error, RefusedRequest
            )
            assert vendor.urls == []


async def test_watsonx_without_a_project_says_so() -> None:
    failed = (await ask(request(model(WATSONX.npm, "m"), "Hello"), WatsonxServer())).failed
    assert failed.error.message == litellm.NO_PROJECT


@pytest.mark.parametrize("key", ["sk-1", "{}", '{"clientid": "a"}', "[]"])
async def test_another_key_is_no_service_key(key: str) -> None:
    called = model(SAP.npm, "gpt-4o", api_key=Secret(key))
    failed = (await ask(request(called, "Hello"), SapServer())).failed
    assert failed.error.message == litellm.BAD_SERVICE_KEY


async def test_a_deployment_on_another_host_gets_no_token() -> None:
    vendor = SapServer()
    vendor.deployments = ["https://elsewhere.example/v2/inference/deployments/d1"]
    failed = (await ask(request(SAP, "Hello"), vendor)).failed
    assert failed.error.message == litellm.NO_DEPLOYMENT
    assert not [url for url in vendor.urls if "elsewhere" in url]


async def test_a_deployment_that_settings_name_is_not_looked_for() -> None:
    called = model(SAP.npm, "gpt-4o", api_key=SAP.api_key, base_url="https://mine.sap.example/d2")
    vendor = SapServer(DONE)
    assert (await ask(request(called, "Hello"), vendor)).text == "Both are there."
    assert vendor.urls[1:] == ["https://mine.sap.example/d2/v2/completion"]


async def test_an_error_in_the_stream_is_told_without_the_token() -> None:
    error = {
        "request_id": "r",
        "code": 500,
        "message": f"LLM failed for {TOKEN}",
        "location": "LLM",
    }
    vendor = SapServer(httpx.Response(200, content=f"data: {json.dumps(error)}\n\n"))
    failed = (await ask(request(SAP, "Hello"), vendor)).failed
    assert failed.error.message.startswith("LLM failed for ")
    assert TOKEN not in failed.error.message


@VENDORS
async def test_what_litellm_cannot_read_is_told_without_its_words(called: Any, server: Any) -> None:
    vendor = server(httpx.Response(200, content=b'data: {"choices": 7, "object": "x"}\n\n'))
    failed = (await ask(request(called, "Hello"), vendor)).failed
    assert failed.error.message == UNREADABLE
