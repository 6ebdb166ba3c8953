from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from providers import llm
from providers.llm.errors import NetworkError
from providers.llm.events import Failed
from providers.llm.messages import Timeouts
from providers.llm.secret import Secret
from tests.providers.llm.exchange import a_model, a_request
from tests.providers.llm.servers_converse import frame

SILENT = "The provider sent nothing for too long."
SOON_S = 0.3
MOST_S = 5.0

# One model for each framing and wire.
WIRES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": ("@ai-sdk/openai-compatible", "/v1", {}),
    "responses": ("@ai-sdk/openai", "/v1", {}),
    "messages": ("@ai-sdk/anthropic", "/v1", {}),
    "gemini": ("@ai-sdk/google", "/v1beta", {}),
    "cohere": ("@ai-sdk/cohere", "/v2", {}),
    "converse": (
        "@ai-sdk/amazon-bedrock",
        "",
        {
            "api_key": Secret(""),
            "connection": {"region": "us-east-1"},
            "secrets": {"accessKeyId": Secret("AKIA1"), "secretAccessKey": Secret("very-secret")},
        },
    ),
}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"
KINDS = {"converse": b"application/vnd.amazon.eventstream"}
# What keeps a connection open and says nothing: a comment, or an event that is none of the answer.
FILLERS = {"converse": frame("ping", {})}


def head_of(wire: str) -> bytes:
    return HEAD % KINDS.get(wire, b"text/event-stream")


Play = Callable[[asyncio.StreamWriter], Any]


@asynccontextmanager
async def serving(play: Play) -> AsyncIterator[str]:
    gone = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            await play(writer)
            await reader.read()
        except ConnectionError:
            pass
        finally:
            gone.set()
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with asyncio.timeout(MOST_S):
            # Who has waited long enough hangs up.
            await gone.wait()


async def failure(wire: str, address: str, timeouts: Timeouts) -> tuple[NetworkError, float]:
    npm, path, more = WIRES[wire]
    model = a_model(npm, "m", "acme", base_url=address + path, timeouts=timeouts, **more)
    began = time.monotonic()
    async with httpx.AsyncHTTPTransport() as transport, asyncio.timeout(MOST_S):
        events = [event async for event in llm.stream(a_request(model, "Hello"), transport)]
    last = events[-1]
    assert isinstance(last, Failed)
    assert isinstance(last.error, NetworkError)
    return last.error, time.monotonic() - began


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_that_does_not_begin_is_given_up(wire: str) -> None:
    async def say_nothing(writer: asyncio.StreamWriter) -> None:
        pass

    async with serving(say_nothing) as address:
        error, took_s = await failure(wire, address, Timeouts(header=SOON_S))
    assert error.message == SILENT
    assert SOON_S <= took_s < MOST_S / 2


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_that_falls_silent_is_given_up(wire: str) -> None:
    async def begin(writer: asyncio.StreamWriter) -> None:
        writer.write(head_of(wire))
        await writer.drain()

    async with serving(begin) as address:
        error, took_s = await failure(wire, address, Timeouts(idle=SOON_S))
    assert error.message == SILENT
    assert SOON_S <= took_s < MOST_S / 2


@pytest.mark.parametrize("wire", WIRES)
async def test_what_keeps_the_connection_open_does_not_keep_it_open_for_ever(wire: str) -> None:
    async def babble(writer: asyncio.StreamWriter) -> None:
        writer.write(head_of(wire))
        filler = FILLERS.get(wire, b": working\n\n")
        while True:
            writer.write(b"%x\r\n%s\r\n" % (len(filler), filler))
            await writer.drain()
            await asyncio.sleep(0.05)

    async with serving(babble) as address:
        error, took_s = await failure(wire, address, Timeouts(idle=1.0, total=SOON_S))
    assert error.message == "The provider took longer for its whole answer than it is given."
    assert SOON_S <= took_s < MOST_S / 2


@pytest.mark.parametrize("wire", WIRES)
async def test_the_whole_time_counts_before_the_answer_begins_as_well(wire: str) -> None:
    async def say_nothing(writer: asyncio.StreamWriter) -> None:
        pass

    async with serving(say_nothing) as address:
        _, took_s = await failure(wire, address, Timeouts(header=4.0, total=SOON_S))
    assert SOON_S <= took_s < MOST_S / 2


async def test_a_server_that_takes_no_connection_is_given_up() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)
        await asyncio.sleep(0.1)
        url = f"http://{address[0]}:{address[1]}"
        error, took_s = await failure("chat", url, Timeouts(connect=SOON_S))
        for one in waiting:
            one.close()
    assert error.message == SILENT
    assert SOON_S <= took_s < MOST_S / 2
