from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, text_of, wait_for
from tests.migrated import lay_out
from tests.providers.llm import servers_chat, servers_litellm
from tests.providers.llm.front import on_a_port
from tests.providers.servers import AnthropicServer, Call, OpenAIServer, Reply, ResponsesServer

# Every process of the server runs it at its start: it writes down whom it wants to reach, and
# refuses all but this machine, whose name it lets be looked up.
GUARD = """
import json, os, sys

def guard(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        place = arguments[1][:2]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        place = (arguments[0], arguments[1] if len(arguments) > 1 else None)
        place = place if isinstance(place[0], (str, bytes)) else (event, str(arguments[-1]))
    else:
        return
    with open(os.environ["GUARD_LOG"], "a") as log:
        log.write(json.dumps([str(place[0]), str(place[1])]) + "\\n")
    if str(place[0]) not in ("127.0.0.1", "::1", "localhost", "None"):
        raise ConnectionRefusedError("sealed")

sys.addaudithook(guard)
"""
HOME = {"127.0.0.1", "::1", "localhost", "None"}
MODEL = "llama-3-70b"


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD)
    env = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "OPENCODE_WEB_DATA": str(tmp_path / "data"),
        "ALLOWED_PRIVATE_ADDRESSES": "127.0.0.1",
        "PYTHONPATH": str(tmp_path / "guard"),
        "GUARD_LOG": str(tmp_path / "guard.log"),
    }
    server = Installation(tmp_path, env)
    lay_out(tmp_path / "data")
    server.bootstrap()
    server.start()
    yield server
    server.close()


def reply(request: Any) -> Reply:
    if not request.json.get("tools"):
        return Reply(text="A title")
    said = json.dumps(request.json)
    if any(word in said for word in ('"tool_result"', '"role": "tool"', "function_call_output")):
        return Reply(text="Done.")
    return Reply(text="I look.", reasoning="Hm.", calls=(Call("list", {}),))


class Watsonx(httpx.MockTransport):
    def __init__(self) -> None:
        super().__init__(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        of = servers_litellm
        if body.get("tools") and body["messages"][-1]["role"] != "tool":
            call = servers_chat.call(0, "c1", "{}", name="list")
            return servers_chat.sse(of.chunk("tool_calls", tool_calls=[call]))
        return servers_chat.sse(of.chunk("stop", content="Done."))


@pytest.mark.deep
@pytest.mark.skipif(sys.platform != "linux", reason="reads what its processes reach")
def test_a_server_reaches_the_vendors_and_nobody_else(sealed: Installation, tmp_path: Path) -> None:
    wires = {"chat": OpenAIServer, "responses": ResponsesServer, "messages": AnthropicServer}
    packages = {"chat": "openai-compatible", "responses": "openai", "messages": "anthropic"}
    with ExitStack() as stack, sealed.client() as client:
        urls = {name: stack.enter_context(kind(reply)).base_url for name, kind in wires.items()}
        block: dict[str, Any] = {
            name: {
                "npm": f"@ai-sdk/{packages[name]}",
                "options": {"baseURL": url, "apiKey": "key-of-tests-01"},
                "models": {MODEL: {"name": "Llama", "reasoning": True}},
            }
            for name, url in urls.items()
        }
        urls["ibm"] = stack.enter_context(on_a_port(Watsonx()))
        block["ibm"] = {
            "npm": "watsonx-ai-provider",
            "options": {"baseURL": urls["ibm"], "apiKey": "key-of-tests-01", "project": "p-1"},
            "models": {MODEL: {"name": "Llama"}},
        }
        assert client.patch("/global/config", json={"provider": block}).status_code == 200
        for name in block:
            session, model = new_session(client), {"providerID": name, "modelID": MODEL}
            assert text_of(ask(client, session, "Look.", model=model)) == "Done."
            summed = client.post(f"/session/{session}/summarize", json=model)
            assert summed.status_code == 200, summed.text
            wait_for(lambda: client.get("/session/status").json() == {}, seconds=60)
    log = (tmp_path / "guard.log").read_text().splitlines()
    reached = {(host, port) for host, port in map(json.loads, log)}
    assert {host for host, _ in reached} <= HOME
    ports = {str(urlsplit(url).port) for url in urls.values()}
    assert ports <= {port for _, port in reached}
