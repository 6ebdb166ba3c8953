from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from providers.llm.route import known_adapters
from tests.architecture.sources import ROOT
from tests.providers.llm import (
    servers_chat,
    servers_cohere,
    servers_converse,
    servers_gemini,
    servers_litellm,
    servers_messages,
    servers_responses,
)
from tests.providers.llm.front import on_a_port

SEALED = Path(__file__).with_name("sealed.py")
SAID = ["Done.", "Title.", "Sum."]
WATSONX, SAP = "watsonx-ai-provider", "@jerome-benoit/sap-ai-provider-v2"


class AnyChat(servers_chat._ChatServer):
    def wrong(self, body: Any) -> str:
        return ""


def chat(kind: Callable[..., httpx.AsyncBaseTransport] = AnyChat) -> httpx.AsyncBaseTransport:
    called = servers_chat.delta(
        "tool_calls", tool_calls=[servers_chat.call(0, "call00001", '{"path":"a"}')]
    )
    return kind([called], *([servers_chat.delta("stop", content=text)] for text in SAID))


class AzureServer(servers_responses.ResponsesServer):
    def check(self, body: Any) -> None:
        super().check({"store": False, **body})


def responses(
    kind: Any = servers_responses.ResponsesServer, **fields: Any
) -> httpx.AsyncBaseTransport:
    of, made = servers_responses, kind
    server: httpx.AsyncBaseTransport = made(
        of.answer(of.reasoning(1, "Hm."), of.call(2, "read", '{"path":"a"}')),
        *(of.answer(of.message(3, text)) for text in SAID),
        **fields,
    )
    return server


def messages() -> httpx.AsyncBaseTransport:
    server, of = servers_messages.MessagesServer(), servers_messages
    server.answer(of.thinking("Hm.", "sig"), of.call("toolu_1", path="a"), stop="tool_use")
    for text in SAID:
        server.answer(of.text(text))
    return server


def messages_of_vertex() -> httpx.AsyncBaseTransport:
    server = messages()
    assert isinstance(server, servers_messages.MessagesServer)
    server.body_version = "vertex-2023-10-16"
    return server


def converse() -> httpx.AsyncBaseTransport:
    server, of = servers_converse.ConverseServer(), servers_converse
    server.answer(of.call("tooluse_1", path="a"), stop="tool_use")
    for text in SAID:
        server.answer(of.text(text))
    return server


def gemini() -> httpx.AsyncBaseTransport:
    of = servers_gemini
    call = {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"}
    said = ([of.chunk({"text": text}, finish="STOP")] for text in SAID)
    return of.GeminiServer([of.chunk(call, finish="STOP")], *said)


def cohere() -> httpx.AsyncBaseTransport:
    of = servers_cohere
    called = [*of.call(0, "c1", '{"path":"a"}'), *of.end("TOOL_CALL")]
    return of.CohereServer(called, *([*of.text(text), *of.end()] for text in SAID))


class Plain(httpx.MockTransport):
    """Chat Completions in the vendor's envelope, for whoever asks."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(self._answer)
        self.answers = list(answers)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/oauth/token":
            return httpx.Response(200, json={"access_token": "t", "expires_in": 3600})
        return servers_chat.sse(*self.answers.pop(0))


def translated() -> httpx.AsyncBaseTransport:
    of = servers_litellm
    called = of.chunk("tool_calls", tool_calls=[servers_chat.call(0, "c1", '{"path":"a"}')])
    return Plain([called], *([of.chunk("stop", content=text)] for text in SAID))


_OWN = {
    "@ai-sdk/openai": (responses, "gpt-5.4"),
    "@ai-sdk/azure": (partial(responses, AzureServer), "gpt-5.4"),
    "@ai-sdk/amazon-bedrock/mantle": (responses, "openai.gpt-5.4"),
    "@ai-sdk/xai": (partial(responses, is_xai=True), "grok-4"),
    "@ai-sdk/anthropic": (messages, "claude-sonnet-4-5"),
    "@ai-sdk/google-vertex/anthropic": (messages_of_vertex, "claude-sonnet-4-5"),
    "@ai-sdk/amazon-bedrock": (converse, "meta.llama3-3-70b-instruct-v1:0"),
    "@ai-sdk/google": (gemini, "gemini-3-pro"),
    "@ai-sdk/google-vertex": (gemini, "gemini-3-pro"),
    "@ai-sdk/cohere": (cohere, "command-a"),
    WATSONX: (translated, "meta-llama/llama-3-70b"),
    SAP: (translated, "meta--llama-3-70b"),
}


EFFORT = {"reasoningEffort": "low"}
THINKING = {"thinking": {"type": "enabled", "budgetTokens": 1024}}
OPTIONS = {
    "@ai-sdk/anthropic": THINKING,
    "@ai-sdk/google-vertex/anthropic": THINKING,
    "@ai-sdk/amazon-bedrock": {},
    "@ai-sdk/cohere": {"thinking": {"type": "enabled", "tokenBudget": 1024}},
}


def wires() -> Iterable[tuple[str, Any, str]]:
    # No setting moves the address of GitLab's gateway, so that none leads to a port of this test.
    for npm in sorted(set(known_adapters()) - {"gitlab-ai-provider"}):
        vendor, model = _OWN.get(npm, (chat, "llama-3-70b"))
        yield npm, vendor, model


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "OPENAI_API_KEY": "of-the-operator",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }


def key_of(npm: str, url: str) -> str:
    if npm != SAP:
        return "key-of-tests"
    urls = {"url": url, "serviceurls": {"AI_API_URL": url}}
    return json.dumps({"clientid": "a", "clientsecret": "b", **urls})


@pytest.mark.deep
@pytest.mark.parametrize("is_translated", [False, True])
def test_calls_reach_their_vendors_and_nothing_else(
    is_translated: bool, env: dict[str, str]
) -> None:
    cases = [case for case in wires() if (case[0] in {WATSONX, SAP}) is is_translated]
    with ExitStack() as stack:
        urls = [stack.enter_context(on_a_port(vendor())) for _, vendor, _ in cases]
        asked = [
            [npm, model, url, key_of(npm, url), OPTIONS.get(npm, EFFORT)]
            for (npm, _, model), url in zip(cases, urls, strict=True)
        ]
        done = subprocess.run(
            [sys.executable, SEALED],
            cwd=ROOT, env=env, input=json.dumps(asked), capture_output=True, text=True, timeout=240,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = dict(zip([npm for npm, *_ in cases], json.loads(done.stdout), strict=True))
    assert found == {npm: [1, SAID, [], is_translated] for npm in found}
    assert found
