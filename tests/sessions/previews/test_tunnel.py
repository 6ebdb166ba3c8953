from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from sessions.previews import channel, link, serving
from sessions.previews.channel import WINDOW_BYTES, Broken, Channel
from sessions.previews.exchange import Refused, ask_ports, connect
from tests.sessions.previews.apps import app


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    writer.write(b"that was all")
    writer.close()


async def whole(source: Channel) -> bytes:
    said = b""
    while data := await source.read():
        said += data
    return said


async def test_bytes_arrive_whole_both_ways_and_the_end_is_told() -> None:
    sent = bytes(range(256)) * 8_000
    async with app(echo) as network, connect("pty_1", network.port) as tunnel:

        async def write() -> None:
            await tunnel.write(sent)
            tunnel.finish()

        said, _ = await asyncio.gather(whole(tunnel), write())
        assert said == sent + b"that was all"


async def test_who_does_not_read_holds_up_the_app_at_a_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting = 0
    sent = link.publish

    def count(group: str, body: Any) -> None:
        nonlocal waiting
        waiting += len(body.get("data", b""))
        sent(group, body)

    async def pour(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x" * 8 * WINDOW_BYTES)
        writer.close()

    monkeypatch.setattr(link, "publish", count)
    async with app(pour) as network, connect("pty_1", network.port) as tunnel:
        while waiting + channel.PIECE_BYTES <= WINDOW_BYTES:
            await asyncio.sleep(0)
        # Another connection and its answer go by, so nothing more is on its way.
        await ask_ports(["pty_1"])
        assert waiting <= WINDOW_BYTES
        assert await whole(tunnel) == b"x" * 8 * WINDOW_BYTES


@pytest.mark.parametrize("lost", ["in the middle", "at the end"])
async def test_what_gets_lost_ends_the_connection_and_is_never_missing(
    monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    for module in (link, serving):
        monkeypatch.setattr(module, "TICK_S", 0.05)
    monkeypatch.setattr("sessions.previews.exchange.TICK_S", 0.05)
    sent = link.publish

    def lose(group: str, body: Any) -> None:
        gone = body["t"] == "data" and (
            not body["data"] if lost == "at the end" else body["n"] == 2
        )
        if not gone:
            sent(group, body)

    async def three(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"a" * 3 * channel.PIECE_BYTES)
        writer.close()

    monkeypatch.setattr(link, "publish", lose)
    async with app(three) as network, connect("pty_1", network.port) as tunnel:
        with pytest.raises(Broken):
            await whole(tunnel)
        with pytest.raises(Broken):
            await tunnel.write(b"more")


async def test_the_end_of_either_side_ends_the_connection() -> None:
    gone = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()
        gone.set()

    async with contextlib.AsyncExitStack() as stack:
        async with app(wait) as network:
            async with connect("pty_1", network.port):
                pass
            await gone.wait()
            left = await stack.enter_async_context(connect("pty_1", network.port))
        with pytest.raises(Broken):
            await left.read()


async def test_more_than_so_many_connections_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_CONNECTIONS", 1)
    async with app(echo) as network, connect("pty_1", network.port):
        with pytest.raises(Refused, match="too many"):
            async with connect("pty_1", network.port):
                pass
