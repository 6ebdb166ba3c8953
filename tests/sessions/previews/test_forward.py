from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import httpcore
import pytest

from sessions.actions.previews import Visit
from sessions.consumers.preview import connections
from sessions.consumers.preview.forward import forward
from sessions.consumers.preview.headers import Headers
from tests.sessions.previews.apps import app

LABEL = "a" * 26
PAGE = b"<html><head></head></html>"


class App:
    """Keeps each connection for one response, and closes it without a word at the next request."""

    def __init__(self, *, keeps: int = 1, policy: str = "") -> None:
        self.asked: list[bytes] = []
        self.connections = 0
        self.keeps = keeps
        self.policy = policy

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        answered = 0
        while head := await _head(reader):
            self.asked.append(head.split(b" ", 1)[0])
            if answered == self.keeps:
                break
            answered += 1
            policy = f"content-security-policy: {self.policy}\r\n" if self.policy else ""
            length = len(PAGE)
            start = (
                f"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{policy}content-length: {length}"
            )
            writer.write(f"{start}\r\n\r\n".encode() + PAGE)
        writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


@contextlib.asynccontextmanager
async def serving(served: App) -> AsyncIterator[int]:
    async with app(served) as network:
        try:
            yield network.port
        finally:
            for pool in connections._pools.pop(asyncio.get_running_loop(), {}).values():
                await pool.connections.aclose()


async def ask(port: int, method: str = "GET", body: bytes = b"") -> tuple[Headers, bytes]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"sec-fetch-dest", b"iframe")]
    headers += [(b"content-length", str(len(body)).encode())] if body else []
    scope = {"method": method, "path": "/", "query_string": b"", "headers": headers}
    await forward(scope, receive, send, Visit(LABEL, "pty_1", port, "http://localhost:4096"))
    assert sent[0]["status"] == 200
    return sent[0]["headers"], b"".join(one.get("body", b"") for one in sent[1:])


async def test_a_request_is_repeated_where_a_kept_connection_was_closed_under_it() -> None:
    served = App()
    async with serving(served) as port:
        for _ in range(3):
            assert (await ask(port))[1].startswith(b"<html><head><script")
    assert served.asked == [b"GET"] * 5
    assert served.connections == 3


async def test_what_may_have_had_effects_is_not_repeated() -> None:
    served = App()
    async with serving(served) as port:
        await ask(port)
        with pytest.raises(httpcore.RemoteProtocolError):
            await ask(port, "POST", b"x")
    assert served.asked == [b"GET", b"POST"]


async def test_an_app_that_never_answers_is_asked_once() -> None:
    served = App(keeps=0)
    async with serving(served) as port:
        with pytest.raises(httpcore.RemoteProtocolError):
            await ask(port)
    assert served.asked == [b"GET"]


async def test_the_nonce_of_our_script_is_another_in_each_page() -> None:
    served = App(policy="script-src 'strict-dynamic' 'nonce-abc'")
    found = set()
    async with serving(served) as port:
        for _ in range(2):
            headers, page = await ask(port)
            nonce = re.findall(rb'nonce="([\w-]{20,})"', page)[0]
            assert b"'nonce-%s'" % nonce in b"; ".join(value for _, value in headers)
            found.add(nonce)
    assert len(found) == 2
