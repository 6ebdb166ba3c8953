from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm.adapters.mistral import Mistral, with_short_ids
from providers.llm.errors import BadRequest, NetworkError, RateLimited
from providers.llm.events import Finished, FinishReason
from providers.llm.facts import Capabilities
from providers.llm.messages import (
    AssistantMessage,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from tests.providers.llm.servers_chat import MistralServer, call, delta, usage
from tests.providers.llm.talk import PDF, PNG, Answer, ask, go_on, model, request, sse

MEDIUM = model("@ai-sdk/mistral", "mistral-medium-latest", "mistral")
DONE = [delta(content="Done."), delta("stop")]


def thinking(*pieces: str) -> Any:
    parts = [{"type": "text", "text": piece} for piece in pieces]
    return delta(content=[{"type": "thinking", "thinking": parts}])


async def test_it_reads_text_usage_and_the_end() -> None:
    counts = usage(
        prompt_tokens_details={"cached_tokens": 4},
        completion_tokens_details={"reasoning_tokens": 3},
    )
    server = MistralServer([delta(content="He"), delta(content="llo"), delta("stop"), counts])
    answer = await ask(request(MEDIUM, "Hi"), server)
    assert answer.text == "Hello"
    assert answer.finished == Finished(FinishReason.STOP, Usage(6, 5, cache_read_tokens=4))
    assert str(server.requests[0].url) == "https://api.mistral.ai/v1/chat/completions"
    body = server.bodies[0]
    assert body["messages"][1] == {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    assert body["prompt_cache_key"] == "ses_1"
    assert "stream_options" not in body


async def test_two_steps_with_thinking_and_parallel_calls() -> None:
    server = MistralServer(
        [
            thinking("First ", "thou"),
            thinking("ghts."),
            delta(content="I read."),
            delta(
                "tool_calls",
                tool_calls=[
                    call(0, "abcdefghi", '{"path":"a"}'),
                    call(1, "jklmnopqr", '{"path":"b"}'),
                ],
            ),
        ],
        DONE,
        DONE,
    )
    first = request(MEDIUM, "Read both")
    answer = await ask(first, server)
    assert answer.finished.reason is FinishReason.TOOL_CALLS
    second = go_on(first, answer, output="File not found", is_error=True)
    last = await ask(second, server)
    assert last.text == "Done."
    _, _, said, *results = server.bodies[1]["messages"]
    pieces = [{"type": "text", "text": text} for text in ("First ", "thou", "ghts.")]
    assert said["content"] == [
        {"type": "thinking", "thinking": pieces},
        {"type": "text", "text": "I read."},
    ]
    assert [one["id"] for one in said["tool_calls"]] == ["abcdefghi", "jklmnopqr"]
    assert results[0] == {
        "role": "tool",
        "name": "read",
        "tool_call_id": "abcdefghi",
        "content": "File not found",
    }
    await ask(go_on(second, last, "Thanks"), server)
    assert server.bodies[2]["messages"][:5] == server.bodies[1]["messages"]


async def test_nobody_speaks_right_after_a_tool() -> None:
    server = MistralServer([delta("tool_calls", tool_calls=[call(0, "abcdefghi", "{}")])], DONE)
    first = request(MEDIUM, "Read")
    await ask(go_on(first, await ask(first, server), "Stop it.", files=(PNG,)), server)
    assert server.bodies[1]["messages"][4:] == [
        {"role": "assistant", "content": "Done."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Attached media from tool result:"},
                {"type": "image_url", "image_url": PNG.data_url},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "Stop it."}]},
    ]


def conversation(*ids: str) -> list[Any]:
    messages: list[Any] = ["Hi"]
    for one in ids:
        messages.append(AssistantMessage((ToolCall(one, "read", {}),)))
        messages.append(ToolResultMessage(one, "read", "x"))
    return messages


async def test_ids_of_other_vendors_become_short_and_stay_different() -> None:
    ids = ("toolu_01AbcdEfgh", "toolu_01AbXyz", "call_1", "call-1", "")
    asked = request(MEDIUM, *conversation(*ids))
    server = MistralServer(DONE)
    assert (await ask(asked, server)).text == "Done."
    sent = [c["id"] for m in server.bodies[0]["messages"] for c in m.get("tool_calls", [])]
    assert sent[0] == "toolu01Ab"
    assert sent[2] == "call10000"
    assert len(set(sent)) == len(ids)


@given(st.lists(st.text(max_size=12), unique=True, max_size=6))
def test_ids_are_the_same_in_every_request(ids: list[str]) -> None:
    short = with_short_ids(request(MEDIUM, *conversation(*ids)))
    earlier = with_short_ids(request(MEDIUM, *conversation(*ids[:2])))
    assert short.messages[: len(earlier.messages)] == earlier.messages
    assert with_short_ids(earlier).messages == earlier.messages


async def test_thinking_of_others_is_text_and_only_for_models_that_think() -> None:
    said = AssistantMessage((Reasoning("Hm.", {"anthropic": {"signature": "s"}}), Text("Yes.")))
    server = MistralServer(DONE, DONE)
    await ask(request(MEDIUM, "Hi", said, "Sure?"), server)
    large = replace(MEDIUM, capabilities=Capabilities())
    await ask(request(large, "Hi", said, "Sure?"), server)
    pieces = [{"type": "text", "text": "Hm."}]
    assert server.bodies[0]["messages"][2]["content"] == [
        {"type": "thinking", "thinking": pieces},
        {"type": "text", "text": "Yes."},
    ]
    assert server.bodies[1]["messages"][2]["content"] == "Yes."


async def test_prompts_that_follow_each_other_stay_two() -> None:
    server = MistralServer(DONE)
    await ask(request(MEDIUM, "Name this:", "Hi"), server)
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


async def test_a_message_of_which_nothing_is_left_is_left_out() -> None:
    said = AssistantMessage((Text("", {"google": {"thoughtSignature": "s"}}),))
    answer = await ask(
        request(MEDIUM, "Hi", said, SystemMessage("B."), "Sure?"), MistralServer(DONE)
    )
    assert answer.text == "Done."


async def test_options_have_the_names_of_the_wire() -> None:
    options: Any = {"reasoningEffort": "high", "safePrompt": True, "custom": 1}
    server = MistralServer(DONE)
    asked = request(replace(MEDIUM, options=options), "Hi", tool_choice="required")
    await ask(asked, server)
    body = server.bodies[0]
    assert (body["reasoning_effort"], body["safe_prompt"]) == ("high", True)
    assert body["tool_choice"] == "any"


async def test_files_of_a_prompt_are_plain_addresses() -> None:
    server = MistralServer(DONE)
    await ask(request(MEDIUM, UserMessage((Text("What?"), PNG, PDF))), server)
    assert server.bodies[0]["messages"][1]["content"][1:] == [
        {"type": "image_url", "image_url": PNG.data_url},
        {"type": "document_url", "document_url": PDF.data_url},
    ]


async def test_an_error_in_the_stream_is_one() -> None:
    frame = {
        "object": "error",
        "message": "Requests rate limit exceeded",
        "type": "rate_limit_error",
    }
    answer = await ask(request(MEDIUM, "Hi"), MistralServer(sse(delta(content="A"), frame)))
    assert isinstance(answer.failed.error, RateLimited)


async def test_a_refusal_is_told_in_mistrals_words() -> None:
    body = MistralServer().error("Tool call id was x")
    answer = await ask(request(MEDIUM, "Hi"), MistralServer(httpx.Response(400, json=body)))
    assert isinstance(answer.failed.error, BadRequest)
    assert answer.failed.error.message == "Tool call id was x"


async def test_a_cut_answer_is_a_failure() -> None:
    answer = await ask(request(MEDIUM, "Hi"), MistralServer(sse(thinking("A"), cut=True)))
    assert isinstance(answer.failed.error, NetworkError)


async def test_odd_frames_are_at_worst_a_failure(subtests: pytest.Subtests) -> None:
    cases = [
        [3],
        [{"type": "thinking", "thinking": 3}],
        [{"type": "thinking", "thinking": ["x"]}],
        [{"type": "text", "text": {"a": 1}}],
        {"type": "text"},
        7,
    ]
    for content in cases:
        with subtests.test(content=content):
            answer = await ask(request(MEDIUM, "Hi"), MistralServer([delta(content=content)]))
            assert answer.end is not None


PIECES = st.lists(st.text(min_size=1, max_size=4), max_size=4)


@given(PIECES, PIECES, st.booleans())
def test_what_was_read_is_written_and_read_the_same(
    thoughts: list[str], texts: list[str], has_call: bool
) -> None:
    protocol, asked = Mistral(), request(MEDIUM, "Hi")
    frames = [thinking(one) for one in thoughts] + [delta(content=one) for one in texts]
    if has_call:
        frames.append(delta(tool_calls=[call(0, "abcdefghi", '{"path":"a"}')]))
    message = _decode(protocol, asked, [*frames, delta("stop")])
    body: Any = protocol.encode(replace(asked, messages=(message,)))
    said = body["messages"][1:]
    written: list[Any] = [
        delta(content=one["content"], tool_calls=one.get("tool_calls", [])) for one in said
    ]
    again = _decode(protocol, asked, [*written, delta("stop")])
    second: Any = protocol.encode(replace(asked, messages=(again,)))
    assert second == body


def _decode(protocol: Mistral, asked: Any, frames: list[Any]) -> AssistantMessage:
    decoder = protocol.decoder(asked)
    events = [event for frame in frames for event in decoder.feed(frame)]
    return Answer([*events, *decoder.end()]).message
