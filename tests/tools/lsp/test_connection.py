from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tools.lsp.connection import Connection, NoSuchMethod, ServerGone, ServerRefusal
from tools.lsp.framing import Frames, ProtocolFault, decode, encode


class FakeService:
    """Holds what was written, and gives what a test puts there to be read."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.news = asyncio.Event()
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.reads = True
        self._frames = Frames()

    async def read(self) -> bytes:
        return await self.incoming.get()

    async def write(self, data: bytes) -> None:
        if not self.reads:
            await asyncio.Event().wait()
        self.sent.extend(decode(body) for body in self._frames.feed(data))
        self.news.set()

    async def until(self, count: int) -> list[dict[str, Any]]:
        async with asyncio.timeout(30):
            while len(self.sent) < count:
                self.news.clear()
                await self.news.wait()
        return self.sent


class Talk:
    """A connection that is served, and what came of it."""

    def __init__(self) -> None:
        self.service = FakeService()
        self.heard: list[tuple[str, Any]] = []
        self.connection = Connection(
            self.service,  # type: ignore[arg-type]
            on_request=self._answer,
            on_notification=lambda method, params: self.heard.append((method, params)),
        )
        self.serving = asyncio.create_task(self.connection.serve())

    def _answer(self, method: str, params: Any) -> Any:
        if method != "echo":
            raise NoSuchMethod(method)
        return params

    def say(self, **message: Any) -> None:
        self.service.incoming.put_nowait(encode({"jsonrpc": "2.0", **message}))

    def ask(self, method: str = "m", timeout_s: float = 30) -> asyncio.Task[Any]:
        return asyncio.create_task(self.connection.request(method, {}, timeout_s=timeout_s))


@pytest_asyncio.fixture
async def talk() -> AsyncIterator[Talk]:
    made = Talk()
    yield made
    made.serving.cancel()
    await asyncio.wait({made.serving})


async def test_answers_find_their_requests_in_any_order(talk: Talk) -> None:
    first, second = talk.ask("one"), talk.ask("two")
    sent = await talk.service.until(2)
    ids = {message["method"]: message["id"] for message in sent}
    talk.say(id=ids["two"], result=2)
    talk.say(id=999, result="nobody asked")
    talk.say(id="x", result="nor this")
    talk.say(id=ids["two"], result="twice")
    talk.say(id=ids["one"], error={"code": -5, "message": "no"})
    assert await second == 2
    with pytest.raises(ServerRefusal, match="no") as refusal:
        await first
    assert refusal.value.code == -5


async def test_requests_and_notifications_of_the_server_are_heard(talk: Talk) -> None:
    talk.say(id="a", method="echo", params=[1])
    talk.say(id=2, method="unknown", params={})
    talk.say(method="news", params={"x": 1})
    talk.say(method=5, params={})
    assert await talk.service.until(2) == [
        {"jsonrpc": "2.0", "id": "a", "result": [1]},
        {"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no method unknown"}},
    ]
    assert talk.heard == [("news", {"x": 1})]


async def test_a_request_that_takes_too_long_is_taken_back(talk: Talk) -> None:
    with pytest.raises(TimeoutError):
        await talk.ask(timeout_s=0.01)
    sent = await talk.service.until(2)
    assert sent[1]["method"] == "$/cancelRequest"
    assert sent[1]["params"] == {"id": sent[0]["id"]}


async def test_a_request_that_is_cancelled_is_taken_back(talk: Talk) -> None:
    asking = talk.ask()
    await talk.service.until(1)
    asking.cancel()
    assert (await talk.service.until(2))[1]["method"] == "$/cancelRequest"


async def test_the_end_of_the_server_ends_every_wait(talk: Talk) -> None:
    asking = talk.ask()
    await talk.service.until(1)
    talk.service.incoming.put_nowait(b"")
    await talk.serving
    with pytest.raises(ServerGone, match="it has ended"):
        await asking
    with pytest.raises(ServerGone):
        await talk.ask()
    talk.connection.notify("ignored", {})


async def test_a_server_that_does_not_read_is_given_up(talk: Talk) -> None:
    talk.service.reads = False
    asking = talk.ask()
    await asyncio.sleep(0)
    for _ in range(40):
        talk.connection.notify("text", "x" * 1_000_000)
    with pytest.raises(ProtocolFault, match="does not read"):
        await talk.serving
    with pytest.raises(ServerGone, match="does not read"):
        await asking


@pytest.mark.parametrize("split", [1, 7, 1000])
def test_messages_are_found_however_they_are_cut(split: int) -> None:
    stream = encode({"a": 1}) + b'Content-Type: x\r\ncontent-LENGTH:  7\r\n\r\n{"b":2}'
    frames = Frames()
    found = [
        decode(body)
        for start in range(0, len(stream), split)
        for body in frames.feed(stream[start : start + split])
    ]
    assert found == [{"a": 1}, {"b": 2}]


def test_what_is_no_message_is_a_fault(subtests: pytest.Subtests) -> None:
    cases = [
        b"\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e3\r\n\r\n",
        b"Content-Length: 8388609\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Lengt: 2\r\n\r\n{}",
        b"x" * 5000,
    ]
    for stream in cases:
        with subtests.test(stream=stream), pytest.raises(ProtocolFault):
            list(Frames().feed(stream))


def test_a_body_that_is_no_json_object_is_a_fault(subtests: pytest.Subtests) -> None:
    for body in [b"", b"[]", b"5", b"{", b'{"a": NaN}', b"[" * 100_000, b"\xff"]:
        with subtests.test(body=body), pytest.raises(ProtocolFault):
            decode(body)
