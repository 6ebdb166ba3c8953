from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.llm.messages import (
    ProviderRequest,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.providers.llm.talk import PDF, PNG, ask, request
from tests.providers.llm.vendors import WIRES, Step, Wire

FIRST = Step("I have to look at both.", "I look.", ("a.txt", "b.txt"))
SECOND = Step("One is missing.", "Only a picture is there.")
ELSEWHERE = Step("And that one?", "I look there.", ("d.txt",))
AGAIN = Step("Once more.", "It is there.", ("c.txt",))
END = Step("That was all.", "Done.")


def results(answer: Any, *outputs: Any) -> list[ToolResultMessage]:
    calls = [part for part in answer.message.content if isinstance(part, ToolCall)]
    return [
        ToolResultMessage(call.id, call.name, **output)
        for call, output in zip(calls, outputs, strict=True)
    ]


def then(asked: ProviderRequest, answer: Any, *more: Any) -> ProviderRequest:
    return replace(asked, messages=(*asked.messages, answer.message, *more))


def said(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def conversation(body: Any) -> list[Any]:
    """What of a body is the conversation, without marks for the cache, which wander."""
    for name in ("input", "contents", "messages"):
        if name in body:
            return [_unmarked(one) for one in body[name]]
    raise AssertionError(body)


def _unmarked(value: Any) -> Any:
    """A text is the same alone and as the only part, which it has to be for a mark."""
    if isinstance(value, list):
        parts = [_unmarked(one) for one in value if one != {"cachePoint": {"type": "default"}}]
        return parts[0] if len(parts) == 1 else parts
    if isinstance(value, dict):
        if value.keys() - {"cache_control"} == {"type", "text"}:
            return value["text"]
        marks = {"cache_control", "copilot_cache_control"}
        return {key: _unmarked(one) for key, one in value.items() if key not in marks}
    return value


async def two_steps(wire: Wire, server: Any) -> ProviderRequest:
    """Two calls at once, one with a picture and one that fails, and what is said then."""
    start = request(wire.model(), UserMessage((Text("Look at these."), PNG, PDF)))
    first = await ask(start, server)
    assert first.finished
    there = {"output": "A picture.", "files": (PNG,)}
    missing = {"output": "There is no b.txt.", "is_error": True}
    asked = then(start, first, *results(first, there, missing))
    second = await ask(asked, server)
    assert second.finished
    assert second.text == SECOND.text
    return then(asked, second)


async def test_a_session_goes_to_another_wire_and_back(subtests: pytest.Subtests) -> None:
    for one, other in list(permutations(WIRES, 2)):
        with subtests.test(one=one, other=other):
            wire, foreign = WIRES[one], WIRES[other]
            server, elsewhere = (
                wire.play(FIRST, SECOND, AGAIN, END),
                foreign.play(ELSEWHERE, SECOND),
            )
            there = await two_steps(wire, server)

            moved = replace(there, model=foreign.model())
            moved = replace(moved, messages=(*moved.messages, said("Ask somebody else.")))
            called = await ask(moved, elsewhere)
            assert called.finished
            moved = then(moved, called, *results(called, {"output": "Gamma."}))
            told = await ask(moved, elsewhere)
            assert told.finished
            sent: Any = elsewhere
            if wire.seal and wire.seal != foreign.seal:
                assert wire.seal not in str(sent.bodies)

            back = then(replace(moved, model=wire.model()), told, said("And you?"))
            again = await ask(back, server)
            assert again.finished
            back = then(back, again, *results(again, {"output": "Gamma."}))
            assert (await ask(back, server)).text == END.text
            bodies = [conversation(body) for body in server.bodies]  # type: ignore[attr-defined]
            for earlier, later in pairwise(bodies):
                assert later[: len(earlier)] == earlier
            if foreign.seal and wire.seal != foreign.seal:
                assert foreign.seal not in str(server.bodies)  # type: ignore[attr-defined]


async def test_an_error_result_is_told_on_every_wire(subtests: pytest.Subtests) -> None:
    for name in WIRES:
        with subtests.test(name=name):
            server: Any = WIRES[name].play(FIRST, SECOND)
            await two_steps(WIRES[name], server)
            sent = json.dumps(server.bodies[1])
            assert "There is no b.txt." in sent
            # The others have no word for it.
            marks = {
                "messages": '"is_error": true',
                "converse": '"status": "error"',
                "gemini": '"error": "There is no b.txt."',
            }
            assert sent.count(marks.get(name, "There is no b.txt.")) == 1


async def test_the_same_conversation_is_sent_in_the_same_bytes(subtests: pytest.Subtests) -> None:
    for name in WIRES:
        with subtests.test(name=name):
            wire = WIRES[name]
            server, second = wire.play(FIRST, SECOND), wire.play(FIRST, SECOND)
            await two_steps(wire, server)
            await two_steps(wire, second)
            sent: list[Any] = [server, second]
            assert [r.content for r in sent[0].requests] == [r.content for r in sent[1].requests]


words = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=12)
words = words.filter(lambda text: bool(text.strip()))
paths = st.lists(words, min_size=1, max_size=3, unique=True).map(tuple)
steps = st.builds(Step, st.just("") | words, st.just("") | words, paths)


@pytest.mark.parametrize("name", WIRES)
@settings(max_examples=25, deadline=None)
@given(made_up=st.lists(steps, min_size=1, max_size=4))
async def test_made_up_conversations_are_sent_again_in_the_same_bytes(
    name: str, made_up: list[Step]
) -> None:
    wire = WIRES[name]
    # A call that is the same as another has the same signature.
    told = [replace(s, paths=tuple(f"{n}{p}" for p in s.paths)) for n, s in enumerate(made_up)]
    first, second = (wire.play(*told, END) for _ in range(2))
    asked = request(wire.model(), said("Begin."))
    for step in told:
        answer = await ask(asked, first)
        assert answer.finished
        assert answer.text == step.text
        outputs = [{"output": path, "is_error": len(path) % 2 == 0} for path in step.paths]
        asked = then(asked, answer, *results(answer, *outputs))
    assert (await ask(asked, first)).text == END.text
    sent: Any = first
    bodies = [conversation(body) for body in sent.bodies]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(bodies))
    # Whoever plays back what was decoded sends what was sent.
    again = request(wire.model(), said("Begin."))
    for step in told:
        answer = await ask(again, second)
        outputs = [{"output": path, "is_error": len(path) % 2 == 0} for path in step.paths]
        again = then(again, answer, *results(answer, *outputs))
    await ask(again, second)
    replayed: Any = second
    assert [r.content for r in replayed.requests] == [r.content for r in sent.requests]
