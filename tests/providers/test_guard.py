from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

from providers.key_tests import probe
from providers.kinds import ProviderKind
from providers.llm.errors import NetworkError, ProviderError
from providers.llm.events import Failed
from providers.stream import stream
from tests.providers.requests import (
    READ,
    anext_text,
    collect,
    end_of,
    make_model,
    make_request,
    text_of,
)
from tests.providers.servers import OpenAIServer, Reply, ResponsesServer

# litellm chooses among its routes by what a model is called.
ROUTES: list[tuple[ProviderKind, str, dict[str, Any]]] = [
    (ProviderKind.OPENAI, "gpt-4o", {}),
    (ProviderKind.OPENAI, "gpt-5-codex", {}),
    (ProviderKind.OPENAI, "gpt-5.4", {"reasoningEffort": "high"}),
    (ProviderKind.OPENAI, "responses/own", {}),
    (ProviderKind.COMPATIBLE, "own", {}),
    (ProviderKind.COMPATIBLE, "responses/own", {}),
    (ProviderKind.COMPATIBLE, "gpt-5-codex", {}),
    (ProviderKind.ANTHROPIC, "claude-sonnet-4-5", {}),
    (ProviderKind.ANTHROPIC, "responses/own", {}),
]
REDIRECTS = pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
INTERNAL = "what an internal server says"


@pytest.fixture
def internal() -> Iterator[OpenAIServer]:
    with OpenAIServer([Reply(text=INTERNAL)]) as server:
        yield server


def redirect_to(internal: OpenAIServer, status: int) -> Reply:
    return Reply(status=status, error="", headers={"location": f"{internal.base_url}/secret"})


@pytest.mark.parametrize(("kind", "api_model", "options"), ROUTES)
@REDIRECTS
async def test_no_route_follows_a_redirect(
    kind: ProviderKind, api_model: str, options: Any, status: int, internal: OpenAIServer
) -> None:
    with OpenAIServer([redirect_to(internal, status)]) as server:
        model = make_model(kind, base_url=server.base_url, api_model=api_model, options=options)
        end = end_of(await collect(make_request(model, tools=(READ,))))
        assert len(server.requests) == 1
    assert internal.requests == []
    assert isinstance(end, Failed)
    assert end.error.status_code == status
    assert INTERNAL not in f"{end.error.message} {end.error.response_body}"


@pytest.mark.parametrize("kind", [kind for kind in ProviderKind if kind != ProviderKind.SCRIPTED])
@REDIRECTS
def test_the_test_of_a_key_follows_no_redirect(
    kind: ProviderKind, status: int, internal: OpenAIServer
) -> None:
    with OpenAIServer([redirect_to(internal, status)]) as server:
        failed = probe(make_request(make_model(kind, base_url=server.base_url))).error
    assert internal.requests == []
    assert isinstance(failed, ProviderError)
    assert failed.status_code == status


@pytest.mark.parametrize("api_model", ["gpt-5-codex", "responses/own"])
async def test_the_responses_route_streams_over_our_transport(api_model: str) -> None:
    with ResponsesServer([Reply(text="Hello there")]) as server:
        model = make_model(ProviderKind.OPENAI, base_url=server.base_url, api_model=api_model)
        events = await collect(make_request(model, tools=(READ,)))
    assert text_of(events) == "Hello there"
    assert server.requests[0].path == "/v1/responses"
    assert server.requests[0].headers["user-agent"].startswith("opencode-web/")


async def test_nothing_of_the_environment_decides_about_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID"):
        monkeypatch.setenv(name, "sk-of-the-operator")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with OpenAIServer([Reply(text="Hello")]) as server:
        model = make_model(base_url=server.base_url, key="")
        assert text_of(await collect(make_request(model))) == "Hello"
    assert "authorization" not in server.requests[0].headers
    assert "sk-of-the-operator" not in str(server.requests)


async def test_silence_on_the_responses_route_is_a_network_error() -> None:
    with ResponsesServer([Reply(text="x" * 80, chunk_delay_s=0.5)]) as server:
        model = make_model(
            ProviderKind.OPENAI,
            base_url=server.base_url,
            api_model="gpt-5-codex",
            idle_timeout_s=0.2,
        )
        end = end_of(await collect(make_request(model)))
    assert isinstance(end, Failed)
    assert isinstance(end.error, NetworkError)


async def test_closing_a_stream_of_the_responses_route_closes_the_connection() -> None:
    with ResponsesServer([Reply(text="x" * 4_000, chunk_delay_s=0.01)]) as server:
        model = make_model(ProviderKind.OPENAI, base_url=server.base_url, api_model="gpt-5-codex")
        async with aclosing(stream(make_request(model))) as events:
            assert await anext_text(events)
        assert await asyncio.to_thread(server.disconnected.wait, 5)


_WATCHED = """
import contextvars, sys, traceback
import django
django.setup()
from opencode_web.lib import outbound
from tests.providers.test_guard import call_every_route

inside = contextvars.ContextVar("inside", default=False)
real = outbound.GuardedBackend.connect_tcp
guarded, strays = [], []

async def connect_tcp(self, host, port, *args, **kwargs):
    token = inside.set(True)
    try:
        return await real(self, host, port, *args, **kwargs)
    finally:
        inside.reset(token)

real_resolve = outbound.resolve
async def resolve(host, port):
    guarded.append((host, port))
    return await real_resolve(host, port)

outbound.GuardedBackend.connect_tcp = connect_tcp
outbound.resolve = resolve

def watch(event, arguments):
    if event == "socket.connect":
        port = arguments[1][1] if isinstance(arguments[1], tuple) else None
        if not inside.get() or port not in [seen for _, seen in guarded]:
            strays.append((event, arguments[1:], traceback.format_stack(limit=12)))
    elif event == "socket.getaddrinfo" and arguments[:2] not in guarded:
        strays.append((event, arguments, traceback.format_stack(limit=12)))
    elif event in ("urllib.Request", "http.client.connect"):
        strays.append((event, arguments, traceback.format_stack(limit=12)))

sys.addaudithook(watch)
ports = call_every_route()
reached = [port for _, port in guarded]
assert all(port in reached for port in ports), (ports, reached)
for stray in strays:
    print(*stray)
sys.exit(bool(strays))
"""


async def _call(kind: ProviderKind, base_url: str, api_model: str, options: Any) -> None:
    model = make_model(kind, base_url=base_url, api_model=api_model, options=options)
    await collect(make_request(model, tools=(READ,)))


def call_every_route() -> list[int]:
    ports = []
    for kind, api_model, options in ROUTES:
        with OpenAIServer([Reply(status=500, error={"error": {"message": "no"}})]) as server:
            asyncio.run(_call(kind, server.base_url, api_model, options))
            probe(make_request(make_model(kind, base_url=server.base_url, api_model=api_model)))
            assert len(server.requests) == 2
            ports.append(int(server.base_url.split(":")[2].split("/")[0]))
    return ports


def test_every_connection_of_every_route_goes_through_the_guard() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
