from __future__ import annotations

from typing import Any

import pytest

from providers.llm.errors import (
    BadRequest,
    NetworkError,
    OverflowError_,
    QuotaExceeded,
    RateLimited,
    ServerError,
)
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
)
from tests.providers.llm.conversation import answered, play, request_of
from tests.providers.llm.servers_responses import (
    ResponsesServer,
    answer,
    call,
    message,
    reasoning,
)
from tests.providers.llm.test_responses import openai


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"reason": "max_output_tokens"}, FinishReason.LENGTH),
        ({"reason": "content_filter"}, FinishReason.CONTENT_FILTER),
        ({"reason": "new"}, FinishReason.UNKNOWN),
        (None, FinishReason.UNKNOWN),
    ],
)
async def test_why_an_answer_is_incomplete(details: Any, reason: FinishReason) -> None:
    frames = answer(message(0, "Cut"), status="incomplete", incomplete_details=details)
    events = await play(request_of(openai()), ResponsesServer(frames))
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is reason


async def test_calls_end_a_step_and_a_refusal_filters_it() -> None:
    events = await play(request_of(openai()), ResponsesServer(answer(call(0, "read", "{}"))))
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is FinishReason.TOOL_CALLS
    refusal = [{"type": "response.refusal.delta", "output_index": 0, "delta": "No."}]
    events = await play(request_of(openai()), ResponsesServer(answer(refusal)))
    assert TextDelta("No.") in events
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is FinishReason.CONTENT_FILTER


async def test_an_error_in_the_stream_is_classified(subtests: pytest.Subtests) -> None:
    others = [
        ("server_error", ServerError),
        ("rate_limit_exceeded", RateLimited),
        ("context_length_exceeded", OverflowError_),
        ("insufficient_quota", QuotaExceeded),
        ("invalid_prompt", BadRequest),
        ("never_heard_of", ServerError),
        (None, ServerError),
    ]
    for is_event in [True, False]:
        for code, leaf in others:
            with subtests.test(code=code, is_event=is_event):
                error = {"code": code, "message": "It went wrong."}
                frame: dict[str, Any] = {"type": "error", "param": None, **error}
                if not is_event:
                    frame = {
                        "type": "response.failed",
                        "response": {"status": "failed", "error": error},
                    }
                server = ResponsesServer([*answer()[:2], *message(0, "Half"), frame])
                end = (await play(request_of(openai()), server))[-1]
                assert isinstance(end, Failed)
                assert type(end.error) is leaf
                assert end.error.message == "It went wrong."


@pytest.mark.parametrize("is_cut", [True, False])
async def test_an_answer_that_ends_in_the_middle_is_a_broken_connection(is_cut: bool) -> None:
    server = ResponsesServer(answer(message(0, "Half"))[:-1], is_cut=is_cut)
    end = (await play(request_of(openai()), server))[-1]
    assert isinstance(end, Failed)
    assert isinstance(end.error, NetworkError)


async def test_items_that_come_only_when_they_are_done_are_read() -> None:
    items = [
        [frame for frame in item if frame["type"] == "response.output_item.done"]
        for item in (reasoning(0, "A.", "B."), message(1, "Hi."), call(2, "read", '{"a": 1}'))
    ]
    answered_ = await answered(request_of(openai()), ResponsesServer(answer(*items)))
    assert answered_ == await answered(
        request_of(openai()),
        ResponsesServer(
            answer(reasoning(0, "A.", "B."), message(1, "Hi."), call(2, "read", '{"a": 1}'))
        ),
    )


async def test_ids_that_change_from_event_to_event_do_no_harm() -> None:
    frames = answer(message(0, "Hi."), call(1, "read", '{"a": 1}'))
    for index, frame in enumerate(frames):
        frame["item_id"] = f"id_{index}"
    events = await play(request_of(openai()), ResponsesServer(frames))
    ends = [event for event in events if isinstance(event, ToolCallEnd)]
    assert [end.arguments for end in ends] == [{"a": 1}]


async def test_a_call_whose_end_is_never_told_ends_all_the_same() -> None:
    begun, *_ = call(0, "read", "")
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0}
    frames = [begun, {**delta, "delta": '{"a":'}, begun, {**delta, "delta": '{"b": 2}'}]
    events = await play(request_of(openai()), ResponsesServer(answer(frames)))
    ends = [event for event in events if isinstance(event, ToolCallEnd)]
    assert [end.arguments for end in ends] == [None, {"b": 2}]


async def test_reasoning_in_the_open_is_shown() -> None:
    delta = {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0}
    frames = [{**delta, "delta": "Hm"}, {**delta, "delta": "m."}]
    events = await play(request_of(openai()), ResponsesServer(answer(frames, message(1, "Hi."))))
    thoughts = [event.text for event in events if isinstance(event, ReasoningDelta)]
    assert thoughts == ["Hm", "m."]


async def test_the_service_tier_that_answered_is_told() -> None:
    server = ResponsesServer(answer(message(0, "Hi."), service_tier="priority"))
    end = (await play(request_of(openai()), server))[-1]
    assert isinstance(end, Finished)
    assert end.tier == "priority"
