from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import NO_ANSWER
from tests.tools.mcp.caller import Person
from tests.tools.mcp.remote_servers import shop
from tests.web_server import Send, answer, raw, serve_any
from tools.errors import ToolError
from tools.mcp.client import ask_for_tools, call_tool
from tools.mcp.content import read_result
from tools.mcp.exchange import SignInNeeded
from tools.mcp.remote import Address


@pytest.fixture(scope="module", params=["streamable-http", "sse"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with shop(request.param) as found:
        yield found


def at(url: str, **headers: str) -> Address:
    return Address(url, headers)


async def test_a_genuine_server_says_what_it_has_and_is_called(url: str) -> None:
    """FEAT-0008 FR-03."""
    there = Address(url, {"X-Key": "me"})
    offer = await ask_for_tools(there, timeout_s=30)
    assert offer.instructions == "Ask for stock first."
    assert [tool["name"] for tool in offer.tools] == ["stock", "broken", "picture"]
    given = await call_tool(
        there, "stock", {"item": "tea", "count": 3}, timeout_s=30, caller=Person()
    )
    assert read_result(given).output == "3 of tea for me"
    with pytest.raises(ToolError, match="Error executing tool broken"):
        read_result(await call_tool(there, "broken", {}, timeout_s=30, caller=Person()))
    [file] = read_result(
        await call_tool(there, "picture", {}, timeout_s=30, caller=Person())
    ).attachments
    assert (file.mime, file.url) == ("image/png", "data:image/png;base64,cG5n")


@pytest.mark.usefixtures("private_closed")
async def test_private_addresses_are_not_reached_unless_the_operator_allows_it(url: str) -> None:
    """FEAT-0008 NFR-02."""
    with pytest.raises(ToolError, match=f"{NO_ANSWER}.$"):
        await ask_for_tools(Address(url, {}), timeout_s=10)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1/mcp", "cannot be reached: it does not answer, or"),
        ("file:///etc/passwd", "must start with http"),
        ("http://me:secret@127.0.0.1/", "user name or password"),
    ],
)
async def test_what_cannot_be_reached_is_said(address: str, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        await ask_for_tools(at(address), timeout_s=10)


def message(result: object, **headers: str) -> Send:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
    return answer(body, content_type="application/json", **headers)


def heard(send: Send) -> Send:
    """Reads what it is sent: what is not read breaks the connection off when it is closed."""

    def take(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers.get("content-length") or 0))
        send(handler)

    return take


HEAD = b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


async def test_what_does_not_answer_is_an_error(subtests: pytest.Subtests) -> None:
    cases = [
        (answer(b"no such\npage", status=404), "responded with status 404: no such page"),
        (answer(b"", status=500), "The server responded with status 500.$"),
        (answer(b'{"error": "x"}', status=503, content_type="application/json"), "status 503"),
        (
            answer(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "too old"}}',
                   status=400, content_type="application/json"),
            "The server returned an error: too old",
        ),
        (answer(b"<html>", content_type="text/html"), "Unexpected content type"),
        (message({}, content_encoding="gzip"), "compressed"),
        (answer(b"", status=302, location="http://127.0.0.1:1/"), "not followed"),
        (raw(HEAD, b"data: x\n\n"), "The server returned an error"),
        (raw(HEAD, *[b"data: " + b"x" * 1_000_000] * 20), "SSE stream failed"),
        (raw(HEAD + b": " + b"\n: ".join([b"y" * 1_000_000] * 70)), "more than 64 MiB"),
    ]  # fmt: skip
    for send, said in cases:
        with (
            subtests.test(send=send),
            serve_any(heard(send)) as base,
            pytest.raises(ToolError, match=said),
        ):
            await ask_for_tools(at(base), timeout_s=10)


async def test_one_that_is_silent_is_given_up() -> None:
    silent = threading.Event()
    with serve_any(raw(HEAD, *[b": still here\n\n"] * 600, pause=silent)) as base:
        with pytest.raises(ToolError, match="longer than 1 s"):
            await ask_for_tools(at(base), timeout_s=1)
        silent.set()


async def test_one_that_wants_a_sign_in_says_so() -> None:
    challenge = 'Bearer resource_metadata="https://a.example/x"'
    send = answer(b"", status=401, www_authenticate=challenge)
    with serve_any(send) as base, pytest.raises(SignInNeeded) as raised:
        await ask_for_tools(at(base), timeout_s=10)
    assert raised.value.challenge == challenge


async def test_a_sign_in_that_ends_during_a_call_does_not_repeat_it() -> None:
    """Whoever is told that a sign-in is needed may sign in and ask again."""

    def take(handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "GET":
            answer(b"", status=401)(handler)
            return
        asked = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        if asked["method"] == "tools/call":
            # It breaks off, and can be gone on with.
            raw(HEAD, b"id: 1\nretry: 1\ndata:\n\n")(handler)
            return
        message({"capabilities": {}})(handler)

    with (
        serve_any(take) as base,
        pytest.raises(ToolError, match="The server responded with status 401") as raised,
    ):
        await call_tool(at(base), "a", {}, timeout_s=10, caller=Person())
    assert not isinstance(raised.value, SignInNeeded)


async def test_a_message_is_not_carried_to_another_host() -> None:
    carried: list[dict[str, str]] = []

    def remember(handler: BaseHTTPRequestHandler) -> None:
        carried.append(dict(handler.headers))
        message({})(handler)

    with (
        serve_any(remember) as other,
        serve_any(answer(b"", status=307, location=other)) as base,
        pytest.raises(ToolError, match="not followed"),
    ):
        await ask_for_tools(at(base, Authorization="Bearer s3cret"), timeout_s=10)
    assert carried == []


async def test_its_own_wishes_are_refused_and_versions_agreed_on() -> None:
    """What it asks for meanwhile is no answer; what was agreed on is in later messages."""
    sent: list[tuple[JsonObject, str | None]] = []

    def take(handler: BaseHTTPRequestHandler) -> None:
        asked = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        sent.append((asked, handler.headers["mcp-protocol-version"]))
        if "id" not in asked or "method" not in asked:
            # What is only told may be refused.
            answer(b"", status=405 if "method" in asked else 202)(handler)
            return
        wish = {"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": {}}
        result = {
            "initialize": {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}},
            "tools/list": {"tools": [{"name": "a"}]},
        }[asked["method"]]
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        events = b"".join(
            b"event: message\ndata: " + json.dumps(one).encode() + b"\n\n" for one in (wish, reply)
        )
        raw(HEAD, events)(handler)

    with serve_any(take) as base:
        offer = await ask_for_tools(at(base), timeout_s=10)
    assert offer.tools == ({"name": "a"},)
    refused = [asked for asked, _ in sent if "error" in asked]
    assert {one["id"] for one in refused} == {"s"}
    versions = {str(asked.get("method")): version for asked, version in sent}
    assert (versions["initialize"], versions["tools/list"]) == (None, "2025-03-26")


def test_the_package_is_imported_only_to_reach_an_address() -> None:
    script = (
        "import django, sys; django.setup();"
        "import sessions.runner.offers.mcp_tools, sessions.urls, opencode_web.api;"
        "sys.exit('mcp' in sys.modules or 'httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
