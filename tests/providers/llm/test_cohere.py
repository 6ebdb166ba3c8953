from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from providers.llm.errors import BadRequest, NetworkError, ServerError
from providers.llm.events import Finished, FinishReason
from providers.llm.messages import (
    AssistantMessage,
    Reasoning,
    SystemMessage,
    Text,
    Usage,
    UserMessage,
)
from tests.providers.llm.servers_cohere import CohereServer, call, end, text
from tests.providers.llm.talk import PNG, READ, ask, go_on, model, request, sse

COMMAND = model("@ai-sdk/cohere", "command-a-reasoning-08-2025", "cohere")
DONE = [*text("Done."), *end()]


async def test_it_reads_text_usage_and_the_end() -> None:
    server = CohereServer([*text("He", "llo"), *end()])
    answer = await ask(request(COMMAND, "Hi"), server)
    assert answer.text == "Hello"
    assert answer.finished == Finished(FinishReason.STOP, Usage(10, 5))
    assert str(server.requests[0].url) == "https://api.cohere.com/v2/chat"
    assert server.bodies[0] == {
        "model": "command-a-reasoning-08-2025",
        "max_tokens": 8000,
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": "Hi"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads a file.",
                    "parameters": READ.schema,
                },
            }
        ],
        "stream": True,
    }


async def test_thinking_and_text_beside_calls_are_not_sent_back() -> None:
    server = CohereServer(
        [
            *text("Hm", ".", kind="thinking"),
            *text("I read.", index=1),
            *call(0, "c1", '{"path":', '"a"}'),
            *call(1, "c2", '{"path":"b"}'),
            *end("TOOL_CALL"),
        ],
        DONE,
        DONE,
    )
    first = request(COMMAND, "Read both")
    answer = await ask(first, server)
    assert answer.finished.reason is FinishReason.TOOL_CALLS
    assert [one.arguments for one in answer.calls] == [{"path": "a"}, {"path": "b"}]
    assert answer.message.content[0] == Reasoning("Hm.")
    second = go_on(first, answer, output="File not found", is_error=True)
    last = await ask(second, server)
    assert last.text == "Done."
    calls = [
        {"id": i, "type": "function", "function": {"name": "read", "arguments": arguments}}
        for i, arguments in (("c1", '{"path":"a"}'), ("c2", '{"path":"b"}'))
    ]
    assert server.bodies[1]["messages"][2:] == [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "File not found"},
        {"role": "tool", "tool_call_id": "c2", "content": "File not found"},
    ]
    await ask(go_on(second, last, "Thanks"), server)
    assert server.bodies[2]["messages"][:5] == server.bodies[1]["messages"]


async def test_thinking_of_others_is_dropped() -> None:
    said = AssistantMessage(
        (Reasoning("Hm.", {"anthropic": {"signature": "s"}}), Text("Yes.", {"openai": {"i": "1"}}))
    )
    server = CohereServer(DONE)
    await ask(request(COMMAND, "Hi", said, SystemMessage("Be brief."), "Sure?"), server)
    messages = server.bodies[0]["messages"]
    assert messages[2] == {"role": "assistant", "content": "Yes."}
    assert "Be brief." in messages[3]["content"]


async def test_options_have_the_names_of_the_wire() -> None:
    options: Any = {"thinking": {"type": "enabled", "tokenBudget": 500}, "custom": 1}
    server = CohereServer(DONE)
    asked = request(replace(COMMAND, options=options), "Hi", temperature=0.3, top_p=0.7, top_k=5)
    await ask(replace(asked, tool_choice="required"), server)
    body = server.bodies[0]
    assert body["thinking"] == {"type": "enabled", "token_budget": 500}
    assert (body["temperature"], body["p"], body["k"]) == (0.3, 0.7, 5)
    assert body["tool_choice"] == "REQUIRED"


async def test_texts_of_a_prompt_are_one_and_pictures_are_parts() -> None:
    server = CohereServer(DONE, DONE)
    await ask(request(COMMAND, UserMessage((Text("A"), Text("B")))), server)
    assert server.bodies[0]["messages"][1]["content"] == "AB"
    await ask(request(COMMAND, UserMessage((Text("A"), PNG))), server)
    kinds = [part["type"] for part in server.bodies[1]["messages"][1]["content"]]
    assert kinds == ["text", "image_url"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("STOP_SEQUENCE", FinishReason.STOP),
        ("ERROR_TOXIC", FinishReason.CONTENT_FILTER),
        ("NEW_ONE", FinishReason.UNKNOWN),
    ],
)
async def test_it_knows_why_the_model_stopped(word: str, reason: FinishReason) -> None:
    answer = await ask(request(COMMAND, "Hi"), CohereServer([*text("A"), *end(word)]))
    assert answer.finished.reason is reason


@pytest.mark.parametrize("delta", [{}, {"error": "it broke"}])
async def test_an_error_at_the_end_is_one(delta: Any) -> None:
    answer = await ask(request(COMMAND, "Hi"), CohereServer([*text("A"), *end("ERROR", **delta)]))
    assert isinstance(answer.failed.error, ServerError)


@pytest.mark.parametrize("cut", [True, False])
async def test_an_answer_without_an_end_was_cut(cut: bool) -> None:
    answer = await ask(request(COMMAND, "Hi"), CohereServer(sse(*text("A"), cut=cut)))
    assert isinstance(answer.failed.error, NetworkError)


async def test_a_refusal_is_told_in_coheres_words() -> None:
    answer = await ask(request(COMMAND, "Hi", AssistantMessage((Text("x"),))), CohereServer())
    assert isinstance(answer.failed.error, BadRequest)
    assert answer.failed.error.message.startswith("invalid request")


async def test_prompts_that_follow_each_other_stay_two() -> None:
    server = CohereServer(DONE)
    await ask(request(COMMAND, "Name this:", "Hi"), server)
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


async def test_a_message_of_which_nothing_is_left_is_left_out() -> None:
    said = AssistantMessage((Text("", {"google": {"thoughtSignature": "s"}}),))
    server = CohereServer(DONE)
    await ask(request(COMMAND, "Hi", said, "Sure?"), server)
    assert [one["role"] for one in server.bodies[0]["messages"]] == ["system", "user", "user"]


async def test_odd_frames_are_at_worst_a_failure(subtests: pytest.Subtests) -> None:
    cases = [
        {"type": "content-delta", "delta": 3},
        {"type": "content-start", "delta": {"message": {"content": "x"}}},
        {"type": "tool-call-delta", "index": [], "delta": {"message": {"tool_calls": [1]}}},
        {"type": "tool-call-end"},
        {"type": "message-end", "delta": {"usage": "x"}},
        {"type": ["x"]},
    ]
    for frame in cases:
        with subtests.test(frame=frame):
            answer = await ask(request(COMMAND, "Hi"), CohereServer([frame]))
            assert answer.end is not None
