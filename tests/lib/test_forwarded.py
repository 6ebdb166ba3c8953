from __future__ import annotations

import logging
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from opencode_web.lib.forwarded import ForwardedClient


async def say_client(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["client"][0].encode()})


async def ask(*forwarded: str, kind: str = "http") -> Any:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": kind, "path": "/", "headers": headers, "client": ["10.0.0.1", 5]}
    app = ApplicationCommunicator(ForwardedClient(say_client), scope)
    if kind == "websocket":
        await app.send_input({"type": "websocket.connect"})
        return await app.receive_output(5)
    start, body = await app.receive_output(5), await app.receive_output(5)
    return body["body"].decode() if start["status"] == 200 else start["status"]


async def test_only_what_trusted_proxies_append_counts(
    settings: Any, subtests: pytest.Subtests
) -> None:
    for proxies, forwarded, expected in [
        (0, ["203.0.113.5"], "10.0.0.1"),
        (1, [], "10.0.0.1"),
        (1, ["203.0.113.5, 198.51.100.77"], "198.51.100.77"),
        # What a client sends in a line of its own stands before it, too.
        (1, ["203.0.113.5", "198.51.100.77"], "198.51.100.77"),
        (2, ["203.0.113.5, 198.51.100.77, 10.0.0.7"], "198.51.100.77"),
        (1, ["198.51.100.77:4711"], "198.51.100.77"),
        (1, ["[2001:db8::1]:4711"], "2001:db8::1"),
        (1, ["2001:DB8:0::1"], "2001:db8::1"),
        (2, ["198.51.100.77"], 400),
        (1, ["unknown"], 400),
        (1, [""], 400),
        (1, ["203.0.113.5,"], 400),
        (1, ["198.51.100.77' OR 1=1"], 400),
    ]:
        with subtests.test(proxies=proxies, forwarded=forwarded):
            settings.TRUSTED_PROXY_COUNT = proxies
            assert await ask(*forwarded) == expected


async def test_the_log_says_once_what_to_set_and_a_socket_is_closed(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.TRUSTED_PROXY_COUNT = 2
    with caplog.at_level(logging.WARNING):
        assert (await ask("1.2.3.4", kind="websocket"))["type"] == "websocket.close"
    (line,) = caplog.messages
    assert "addresses=1 TRUSTED_PROXY_COUNT=2: set it to the number of proxies" in line
    assert "1.2.3.4" not in line
