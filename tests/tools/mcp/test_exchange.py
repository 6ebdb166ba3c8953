from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from opencode_web.lib.json import JsonObject
from tests.tools.mcp.caller import Person, called
from tools.context import Suspended
from tools.errors import ToolError
from tools.mcp.exchange import Exchange, NotBegun, ServerGone, SignInNeeded, greet, serving


@dataclass
class PlayedWire:
    """A server that a test plays: `sent` is what it was told, `say` what it says."""

    sent: list[JsonObject] = field(default_factory=list)
    incoming: asyncio.Queue[JsonObject] = field(default_factory=asyncio.Queue)
    given_up: list[int] = field(default_factory=list)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False
    dies_of: ToolError | None = None

    async def send(self, message: JsonObject) -> None:
        await self.reads.wait()
        self.sent.append(message)

    async def receive(self) -> JsonObject:
        message = await self.incoming.get()
        if self.dies_of is not None:
            raise self.dies_of
        return message

    def give_up(self, number: int) -> None:
        self.given_up.append(number)

    def say(self, **message: object) -> None:
        self.incoming.put_nowait({"jsonrpc": "2.0", **message})  # type: ignore[dict-item]

    def die(self, why: str) -> None:
        self.dies_of = ServerGone(why)
        self.incoming.put_nowait({})

    async def heard(self, method: str) -> JsonObject:
        async with asyncio.timeout(5):
            while not (found := [one for one in self.sent if one.get("method") == method]):
                await asyncio.sleep(0)
        return found[-1]

    async def told(self, number: str) -> JsonObject:
        """What was answered to its own request."""
        async with asyncio.timeout(5):
            while not (found := [one for one in self.sent if one.get("id") == number]):
                await asyncio.sleep(0)
        return found[-1]


@asynccontextmanager
async def opened(roots: tuple[Path, ...] = ()) -> AsyncIterator[tuple[PlayedWire, Exchange]]:
    wire = PlayedWire()
    wire.reads.set()
    exchange = Exchange(wire, roots)
    async with serving(exchange):
        yield wire, exchange


async def test_answers_find_their_requests_in_any_order() -> None:
    async with opened() as (wire, exchange):
        asked = [asyncio.create_task(exchange.request("a", {"n": n})) for n in range(3)]
        await asyncio.sleep(0.01)
        assert [one["id"] for one in wire.sent] == [1, 2, 3]
        for number in (3, 1, 2):
            wire.say(id=number, result={"of": number})
        # Nobody has asked for these.
        wire.say(id=1, result={"of": "again"})
        wire.say(id=99, result={})
        assert await asyncio.gather(*asked) == [{"of": 1}, {"of": 2}, {"of": 3}]


async def test_a_call_that_is_stopped_is_told_of_and_the_server_lives_on() -> None:
    async with opened() as (wire, exchange):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await exchange.request("tools/call", {})
        cancelled = await wire.heard("notifications/cancelled")
        assert cancelled["params"] == {"requestId": 1}
        assert wire.given_up == [1]
        # Its answer comes all the same.
        wire.say(id=1, result={})
        second = asyncio.create_task(exchange.request("tools/call", {}))
        await asyncio.sleep(0.01)
        wire.say(id=2, result={"is": "there"})
        assert await second == {"is": "there"}


async def test_a_greeting_is_not_given_up() -> None:
    async with opened() as (wire, exchange):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await greet(exchange)
        await asyncio.sleep(0.01)
        assert [one["method"] for one in wire.sent] == ["initialize"]


async def test_a_server_that_dies_fails_all_that_it_was_asked() -> None:
    async with opened() as (wire, exchange):
        asked = [asyncio.create_task(exchange.request("a", {})) for _ in range(2)]
        await asyncio.sleep(0.01)
        wire.die("it was too much")
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [str(one) for one in found] == ["it was too much"] * 2
        assert all(type(one) is ServerGone for one in found)
        # What is asked afterwards has not begun, so it can be asked of another.
        with pytest.raises(NotBegun):
            await exchange.request("a", {})


async def test_what_nobody_reads_is_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.mcp.exchange._READS_WITHIN_S", 0.1)
    async with opened() as (wire, exchange):
        wire.reads.clear()
        with pytest.raises(ServerGone, match="does not read what it is sent"):
            await exchange.request("a", {})
    async with opened() as (wire, exchange):
        wire.reads.clear()
        for number in range(1_000):
            wire.say(id=f"s{number}", method="ping")
        await asyncio.wait_for(exchange.ended.wait(), 5)
        assert exchange._outgoing.qsize() <= 256


async def test_a_call_that_was_given_up_unsent_is_not_sent() -> None:
    async with opened() as (wire, exchange):
        wire.reads.clear()
        first = asyncio.create_task(exchange.request("first", {}))
        await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await exchange.request("second", {})
        wire.reads.set()
        await wire.heard("notifications/cancelled")
        assert [one["method"] for one in wire.sent] == ["first", "notifications/cancelled"]
        wire.say(id=1, result={})
        assert await first == {}


async def test_one_that_floods_is_ended_and_holds_up_nobody() -> None:
    async with opened() as (wire, exchange):
        for _ in range(11_000):
            wire.say(method="notifications/message", params={"level": "info", "data": "x" * 10_000})
        began, turns = asyncio.get_running_loop().time(), 0
        while not exchange.ended.is_set():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 100
        assert asyncio.get_running_loop().time() - began < 10
        assert len(exchange.log.since(0)) < 20 * 600
        with pytest.raises(NotBegun, match="too many messages that nobody asked for"):
            await exchange.request("a", {})


async def test_what_it_asks_for_itself(subtests: pytest.Subtests, tmp_path: Path) -> None:
    refused = {"code": -32601, "message": "This is not offered here."}
    roots = {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}
    cases: list[tuple[tuple[Path, ...], str, JsonObject]] = [
        ((tmp_path,), "ping", {"result": {}}),
        ((tmp_path,), "roots/list", {"result": roots}),
        # One at an address is told of no folders.
        ((), "roots/list", {"error": refused}),
        ((tmp_path,), "sampling/createMessage", {"error": refused}),
        # No call is under way.
        ((tmp_path,), "elicitation/create", {"result": {"action": "cancel"}}),
    ]
    for given, method, answer in cases:
        with subtests.test(method=method, given=given):
            async with opened(given) as (wire, _):
                wire.say(id="s", method=method, params={"message": "m"})
                assert await wire.told("s") == {"jsonrpc": "2.0", "id": "s", **answer}


async def test_it_says_what_it_can_do() -> None:
    for roots, capabilities in (
        ((Path("/w"),), {"elicitation": {}, "roots": {}}),
        ((), {"elicitation": {}}),
    ):
        async with opened(roots) as (wire, exchange):
            greeting = asyncio.create_task(greet(exchange))
            hello = await wire.heard("initialize")
            wire.say(id=1, result={})
            await greeting
            assert hello["params"]["capabilities"] == capabilities  # type: ignore[call-overload,index]
            await wire.heard("notifications/initialized")


async def test_progress_is_shown_now_and_then() -> None:
    async with opened() as (wire, exchange):
        person = Person()
        call = asyncio.create_task(called(exchange, person))
        sent = await wire.heard("tools/call")
        assert sent["params"] == {"name": "a", "_meta": {"progressToken": 1}}
        for step in range(500):
            more = {"progress": step, "total": 500, "message": "a\x1b[31m\nb" + "c" * 900}
            wire.say(method="notifications/progress", params={"progressToken": 1, **more})
        wire.say(method="notifications/progress", params={"progressToken": 2, "progress": 1})
        await asyncio.sleep(0.1)
        wire.say(id=1, result={"content": []})
        assert await call == {"content": []}
    assert 1 <= len(person.shown) <= 3
    assert person.shown[0].endswith("c")
    assert "/500 a[31m b" in person.shown[0]
    assert len(person.shown[0]) == 200


async def test_its_log_is_told_with_a_failure_only() -> None:
    for failed in (True, False):
        async with opened() as (wire, exchange):
            wire.say(method="notifications/message", params={"level": "info", "data": "before"})
            await asyncio.sleep(0.01)
            call = asyncio.create_task(called(exchange, Person()))
            await wire.heard("tools/call")
            for data in ("no\x1b disk", {"message": "none left"}, {"deep": [1]}, {"a": 1}):
                params = {"level": "error", "data": data}
                wire.say(method="notifications/message", params=params)
            wire.say(id=1, result={"content": [], "isError": failed})
            text = 'Log of the server:\nerror: no disk\nerror: none left\nerror: {"a": 1}'
            told = {"content": [{"type": "text", "text": text}], "isError": True}
            assert await call == (told if failed else {"content": [], "isError": False})


async def test_a_person_is_asked_for_a_call_and_the_call_goes_on() -> None:
    async with opened() as (wire, exchange):
        answer: JsonObject = {"action": "accept", "content": {"name": "tea"}}
        call = asyncio.create_task(called(exchange, Person(answer=answer)))
        await wire.heard("tools/call")
        wire.say(id="s", method="elicitation/create", params={"message": "which?"})
        assert (await wire.told("s"))["result"] == answer
        wire.say(id=1, result={"content": []})
        assert await call == {"content": []}


async def test_a_call_that_waits_for_a_person_is_found_again() -> None:
    async with opened() as (wire, exchange):
        person = Person()
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        wire.say(id="s", method="elicitation/create", params={"message": "which?"})
        with pytest.raises(Suspended):
            await call
        await asyncio.sleep(0.01)
        assert not [one for one in wire.sent if one.get("method") == "notifications/cancelled"]
        person.answer = {"action": "decline"}
        again = asyncio.create_task(called(exchange, person))
        assert (await wire.told("s"))["result"] == {"action": "decline"}
        wire.say(id=1, result={"content": []})
        assert await again == {"content": []}
        assert len([one for one in wire.sent if one.get("method") == "tools/call"]) == 1
        assert exchange.parked == {}


async def test_a_call_whose_server_ended_while_it_waited_is_not_made_again() -> None:
    async with opened() as (wire, exchange):
        with pytest.raises(ToolError, match="was not repeated"):
            await called(exchange, Person(has_asked=True))
        await asyncio.sleep(0.01)
        assert wire.sent == []


async def test_a_request_that_fails_alone_leaves_the_others() -> None:
    async with opened() as (wire, exchange):
        first = asyncio.create_task(exchange.request("a", {}))
        second = asyncio.create_task(exchange.request("b", {}))
        await asyncio.sleep(0.01)
        exchange.fail(1, SignInNeeded())
        with pytest.raises(SignInNeeded):
            await first
        wire.say(id=2, result={"b": 1})
        assert await second == {"b": 1}
