from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from providers.llm.errors import RefusedRequest
from providers.llm.messages import AssistantMessage, ToolCall
from providers.llm.protocols.gemini import UNSIGNED, Gemini, GeminiDialect
from providers.llm.secret import Secret
from tests.providers.llm.servers_gemini import GeminiServer, chunk
from tests.providers.llm.talk import PDF, ask, go_on, model, request

DONE = chunk({"text": "Done."}, finish="STOP")
CALL_B = {"functionCall": {"name": "read", "args": {"path": "b"}}}
VERTEX = model(
    "@ai-sdk/google-vertex",
    "gemini-3-pro-preview",
    "google-vertex",
    api_key=Secret(""),
    connection={"project": "p1", "location": "global"},
    secrets={"accessToken": Secret("token-of-tests")},
)


async def test_vertex_is_where_its_location_says() -> None:
    hosts = {
        "global": "aiplatform.googleapis.com",
        "us-central1": "us-central1-aiplatform.googleapis.com",
        "eu": "aiplatform.eu.rep.googleapis.com",
    }
    for location, host in hosts.items():
        server = GeminiServer([DONE])
        one = replace(VERTEX, connection={"project": "p1", "location": location})
        await ask(request(one, "Hi"), server)
        sent = server.requests[0]
        assert sent.url.host == host
        assert sent.url.path == (
            f"/v1beta1/projects/p1/locations/{location}/publishers/google/models/"
            "gemini-3-pro-preview:streamGenerateContent"
        )
        assert sent.headers["authorization"] == "Bearer token-of-tests"


async def test_vertex_takes_a_key_instead_of_a_token() -> None:
    server = GeminiServer([DONE])
    await ask(request(replace(VERTEX, secrets={}, api_key=Secret("key-1")), "Hi"), server)
    assert server.requests[0].headers["x-goog-api-key"] == "key-1"


@pytest.mark.parametrize(
    ("missing", "word"), [({"connection": {}}, "`project`"), ({"secrets": {}}, "key")]
)
async def test_vertex_says_which_setting_it_lacks(missing: Any, word: str) -> None:
    answer = await ask(request(replace(VERTEX, **missing), "Hi"), GeminiServer())
    assert isinstance(answer.failed.error, RefusedRequest)
    assert word in answer.failed.error.message
    assert answer.failed.is_free


async def test_vertex_marks_unsigned_calls_and_takes_files_after_results() -> None:
    server = GeminiServer([chunk(CALL_B, finish="STOP")], [DONE], files_inside=False)
    first = request(VERTEX, "Read")
    await ask(go_on(first, await ask(first, server), files=(PDF,)), server)
    _, said, _, files = server.bodies[1]["contents"]
    assert said["parts"] == [{**CALL_B, "thoughtSignature": UNSIGNED}]
    assert files["parts"][1]["inlineData"]["mimeType"] == "application/pdf"


def test_vertex_marks_no_call_after_a_signed_one() -> None:
    signed = {"google": {"thoughtSignature": "QQ=="}}
    calls = (ToolCall("1", "read", {}, signed), ToolCall("2", "read", {}))
    body: Any = Gemini(GeminiDialect(marks_unsigned=True)).encode(
        request(VERTEX, "Hi", AssistantMessage(calls))
    )
    signatures = [part.get("thoughtSignature") for part in body["contents"][1]["parts"]]
    assert signatures == ["QQ==", None]


async def test_no_setting_leads_to_another_host(subtests: pytest.Subtests) -> None:
    cases = [
        {"project": "p", "location": "evil.example/"},
        {"project": "p", "location": "x#"},
        {"project": "../..", "location": "us-east5"},
    ]
    for place in cases:
        for npm in ["@ai-sdk/google-vertex", "@ai-sdk/google-vertex/anthropic"]:
            with subtests.test(npm=npm, place=place):
                fields = {"connection": place, "secrets": {"accessToken": Secret("token-1234567")}}
                answer = await ask(
                    request(model(npm, "m", **fields), "Hi"), httpx.MockTransport(_unreached)
                )
                assert isinstance(answer.failed.error, RefusedRequest)


def _unreached(_request: httpx.Request) -> httpx.Response:
    raise AssertionError("nothing may be sent")
