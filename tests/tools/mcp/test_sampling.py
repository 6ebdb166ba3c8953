from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from opencode_web.lib.json import JsonObject
from tests.tools.mcp.caller import Person, called
from tests.tools.mcp.test_exchange import PlayedWire
from tools.context import ModelAnswer, ModelMessage, Picture
from tools.mcp.exchange import Exchange, greet, serving
from tools.mcp.sampling import MAX_CHARS, Refusal, as_text, read_request, to_result

ASKED: JsonObject = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Name a tea."}}],
    "maxTokens": 100,
}
ANSWER: JsonObject = {
    "role": "assistant",
    "content": {"type": "text", "text": "Sencha"},
    "model": "m",
    "stopReason": "endTurn",
}


def text(said: object, role: str = "user") -> JsonObject:
    return {"role": role, "content": {"type": "text", "text": said}}  # type: ignore[dict-item]


def image(data: str = "cG5n", mime: str = "image/png", role: str = "user") -> JsonObject:
    return {"role": role, "content": {"type": "image", "data": data, "mimeType": mime}}


@asynccontextmanager
async def opened(*, samples: bool = True) -> AsyncIterator[tuple[PlayedWire, Exchange]]:
    wire = PlayedWire()
    wire.reads.set()
    exchange = Exchange(wire, samples=samples)
    async with serving(exchange):
        yield wire, exchange


def test_a_request_is_read_as_a_conversation_and_what_is_not_offered_is_left_out() -> None:
    request = read_request(
        "tea",
        {
            "messages": [
                text("One\x1b[31m"),
                image(),
                text("Two", "assistant"),
                {"role": "user", "content": [{"type": "text", "text": "Three"}]},
            ],
            "systemPrompt": "Be brief.",
            "includeContext": "allServers",
            "temperature": 0.5,
            "maxTokens": 1_000_000,
            "metadata": {"any": "thing"},
            "modelPreferences": {
                "hints": [{"name": "haiku"}, {"name": 3}, "x"],
                "costPriority": 0.9,
                "intelligencePriority": 0.2,
            },
        },
    )
    picture = Picture("image/png", "data:image/png;base64,cG5n")
    assert request.messages == (
        ModelMessage("user", ("One[31m", picture)),
        ModelMessage("assistant", ("Two",)),
        ModelMessage("user", ("Three",)),
    )
    assert (request.program, request.system, request.temperature) == ("tea", "Be brief.", 0.5)
    assert (request.max_tokens, request.hints, request.small) == (4_096, ("haiku",), True)
    assert as_text(request) == (
        "System prompt:\nBe brief.\n\nUser:\nOne[31m\n[image/png, 1 kB]\n\n"
        "Assistant:\nTwo\n\nUser:\nThree"
    )


def test_what_no_model_is_asked(subtests: pytest.Subtests) -> None:
    cases: list[tuple[JsonObject, str]] = [
        ({"messages": []}, "no list of 1 to 64"),
        ({"messages": "hi"}, "no list of 1 to 64"),
        ({"messages": [text("a")] * 65}, "no list of 1 to 64"),
        ({"messages": ["hi"]}, "no known role"),
        ({"messages": [text("a", "system")]}, "no known role"),
        ({"messages": [{"role": "user", "content": []}]}, "no known role"),
        ({"messages": [text(3)]}, "Only texts and images"),
        ({"messages": [{"role": "user", "content": {"type": "audio"}}]}, "Only texts and images"),
        ({"messages": [image(mime="image/svg+xml")]}, "Only texts and images"),
        ({"messages": [image("%%%")]}, "no base64"),
        ({"messages": [image("A" * 4_200_000)]}, "too large"),
        ({"messages": [image()] * 5}, "more than 4 images"),
        ({"messages": [image(role="assistant"), text("b")]}, "Only the user's"),
        ({"messages": [text("a"), text("b", "assistant")]}, "last message"),
        ({"messages": [text("a" * (MAX_CHARS // 2))] * 3}, "more than 64000 characters"),
        ({"systemPrompt": "a" * MAX_CHARS}, "more than 64000 characters"),
        ({"maxTokens": 0}, "maxTokens"),
        ({"maxTokens": True}, "maxTokens"),
        ({"maxTokens": "9"}, "maxTokens"),
        ({"tools": [{"name": "bash"}]}, "Tools are not offered"),
    ]
    for changed, problem in cases:
        with subtests.test(problem=problem, keys=list(changed)):
            with pytest.raises(Refusal, match=problem) as refused:
                read_request("tea", {**ASKED, **changed})
            assert refused.value.code == -32602


def test_strange_wishes_are_taken_as_none() -> None:
    wishes: JsonObject = {
        "temperature": "hot",
        "systemPrompt": 3,
        "modelPreferences": {"hints": "x", "costPriority": "high"},
    }
    assert read_request("tea", {**ASKED, **wishes}) == read_request("tea", ASKED)


def test_an_answer_says_why_it_ends() -> None:
    def reason(answer: ModelAnswer, stops: object = None) -> tuple[object, object]:
        result = to_result(answer, stops)  # type: ignore[arg-type]
        content = result["content"]
        assert isinstance(content, dict)
        return content["text"], result["stopReason"]

    assert to_result(ModelAnswer("Sencha", "m"), None) == ANSWER
    assert reason(ModelAnswer("Sen", "m", cut=True)) == ("Sen", "maxTokens")
    assert reason(ModelAnswer("a b c", "m"), [3, "", "c", "b"]) == ("a ", "stopSequence")


async def test_one_that_may_ask_a_model_is_told_so() -> None:
    for samples in (True, False):
        async with opened(samples=samples) as (wire, exchange):
            greeting = asyncio.create_task(greet(exchange))
            hello = await wire.heard("initialize")
            wire.say(id=1, result={})
            await greeting
            params = hello["params"]
            assert isinstance(params, dict)
            assert ("sampling" in params["capabilities"]) is samples  # type: ignore[operator]


async def test_a_model_answers_during_a_call_and_the_call_goes_on() -> None:
    async with opened() as (wire, exchange):
        person = Person(sampled=ANSWER)
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        wire.say(id="s", method="sampling/createMessage", params=ASKED)
        person.answers.set()
        assert (await wire.told("s"))["result"] == ANSWER
        wire.say(id=1, result={"content": []})
        assert await call == {"content": []}
        assert person.samples == [(ASKED, 1)]


async def test_a_rejection_is_told_in_the_words_of_the_protocol() -> None:
    async with opened() as (wire, exchange):
        person = Person()
        person.answers.set()
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        wire.say(id="s", method="sampling/createMessage", params=ASKED)
        told = {"code": -1, "message": "User rejected sampling request"}
        assert (await wire.told("s"))["error"] == told
        wire.say(id=1, result={})
        await call


async def test_no_model_is_asked_while_no_tool_runs() -> None:
    async with opened() as (wire, exchange):
        wire.say(id="idle", method="sampling/createMessage", params=ASKED)
        # Whoever lists its tools has not called one.
        listing = asyncio.create_task(exchange.request("tools/list", {}))
        await wire.heard("tools/list")
        wire.say(id="listing", method="sampling/createMessage", params=ASKED)
        for number in ("idle", "listing"):
            assert (await wire.told(number))["error"]["code"] == -32603  # type: ignore[call-overload,index]
        wire.say(id=1, result={})
        await listing


async def test_a_flood_of_requests_is_answered_eight_times_in_a_call() -> None:
    async with opened() as (wire, exchange):
        person = Person(sampled=ANSWER)
        person.answers.set()
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        for number in range(60):
            wire.say(id=f"s{number}", method="sampling/createMessage", params=ASKED)
        told = [await wire.told(f"s{number}") for number in range(60)]
        assert len([one for one in told if "result" in one]) == 8
        assert [number for _, number in person.samples] == [1, 2, 3, 4, 5, 6, 7, 8]
        wire.say(id="late", method="sampling/createMessage", params=ASKED)
        assert "error" in await wire.told("late")
        wire.say(id=1, result={})
        await call


async def test_a_model_stops_when_nobody_waits_for_its_answer() -> None:
    async with opened() as (wire, exchange):
        # The server cancels what it has asked, and does not hear of it again.
        person = Person(sampled=ANSWER)
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        for number in ("s1", "s2"):
            wire.say(id=number, method="sampling/createMessage", params=ASKED)
        await until_asked(person)
        for number in ("s2", "s1"):
            wire.say(method="notifications/cancelled", params={"requestId": number})
        wire.say(id="s3", method="ping")
        await wire.told("s3")
        # It answers the call without waiting.
        wire.say(id="s4", method="sampling/createMessage", params=ASKED)
        await until_asked(person, 2)
        assert person.stopped == 1
        wire.say(id=1, result={"content": []})
        assert await call == {"content": []}
        assert (person.stopped, len(person.samples)) == (2, 2)
        # The call is cancelled.
        call = asyncio.create_task(called(exchange, person))
        await asyncio.sleep(0)
        wire.say(id="s5", method="sampling/createMessage", params=ASKED)
        await until_asked(person, 3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert person.stopped == 3
        answered = {one.get("id") for one in wire.sent if "method" not in one}
        assert not answered & {"s1", "s2", "s4", "s5"}


async def test_what_waits_in_a_call_that_ends_is_refused() -> None:
    async with opened() as (wire, exchange):
        person = Person(sampled=ANSWER)
        call = asyncio.create_task(called(exchange, person))
        await wire.heard("tools/call")
        for number in ("s1", "s2"):
            wire.say(id=number, method="sampling/createMessage", params=ASKED)
        await until_asked(person)
        wire.say(id=1, result={})
        await call
        assert (await wire.told("s2"))["error"]["code"] == -32603  # type: ignore[call-overload,index]


async def test_the_time_of_a_model_is_not_the_server_s() -> None:
    async with opened() as (wire, exchange):
        person = Person(sampled=ANSWER)
        call = asyncio.create_task(called(exchange, person, timeout_s=0.2))
        await wire.heard("tools/call")
        wire.say(id="s", method="sampling/createMessage", params=ASKED)
        await until_asked(person)
        await asyncio.sleep(0.3)
        person.answers.set()
        await wire.told("s")
        # The rest of its own time still ends.
        with pytest.raises(TimeoutError):
            await call


async def until_asked(person: Person, times: int = 1) -> None:
    async with asyncio.timeout(5):
        while len(person.samples) < times:
            await asyncio.sleep(0)
