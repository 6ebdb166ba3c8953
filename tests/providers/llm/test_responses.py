from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.llm.errors import (
    BadRequest,
)
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    TextDelta,
)
from providers.llm.facts import Capabilities
from providers.llm.framing import StreamError
from providers.llm.messages import (
    AssistantMessage,
    File,
    Reasoning,
    ResolvedModel,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from providers.llm.protocols.responses import Responses
from providers.llm.protocols.responses_decoder import ResponsesDecoder
from tests.providers.llm.conversation import ALL, KEY, answered, model_of, play, request_of, said
from tests.providers.llm.servers_responses import (
    ResponsesServer,
    answer,
    call,
    message,
    reasoning,
)

PNG = File("image/png", "data:image/png;base64,iVBORw0K", "pic.png")
PDF = File("application/pdf", "data:application/pdf;base64,JVBERi0x", "doc.pdf")


def openai(name: str = "gpt-5.4", **fields: Any) -> ResolvedModel:
    return model_of("@ai-sdk/openai", "openai", name, **fields)


async def test_a_text_is_streamed_and_its_tokens_are_counted() -> None:
    server = ResponsesServer(answer(message(0, "Hello there.")))
    events = await play(request_of(openai()), server)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hello there."
    assert said(events).content == (Text("Hello there.", {"openai": {"itemId": "msg_0"}}),)
    usage = Usage(input_tokens=400, output_tokens=40, reasoning_tokens=20, cache_read_tokens=600)
    assert events[-1] == Finished(FinishReason.STOP, usage)


async def test_the_request_is_what_openai_is_sent() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(openai()), server)
    request, body = server.requests[0], server.bodies[0]
    assert str(request.url) == "https://api.openai.com/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["session-id"] == "ses_1"
    tool = body.pop("tools")[0]
    assert tool.pop("description")
    assert tool == {
        "type": "function",
        "name": "read",
        "parameters": {
            "type": "object",
            "properties": {"filePath": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["filePath"],
            "additionalProperties": False,
        },
        "strict": False,
    }
    assert body == {
        "model": "gpt-5.4",
        "input": [
            {"role": "developer", "content": "Be terse.\nBe kind."},
            {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        ],
        "text": {"verbosity": "low"},
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "ses_1",
        "reasoning": {"effort": "medium", "summary": "auto"},
        "tool_choice": "auto",
        "stream": True,
    }


async def test_two_steps_with_reasoning_parallel_calls_and_an_error_go_back_as_they_came() -> None:
    server = ResponsesServer(
        answer(
            reasoning(0, "First.", "Then."),
            message(1, "I will read."),
            call(2, "read", '{"filePath": "/a"}'),
            call(3, "read", '{"filePath": "/b"}'),
        ),
        answer(reasoning(0, seal="other"), message(1, "One is missing.", phase="final_answer")),
        answer(message(0, "You are welcome.")),
    )
    request = request_of(openai(), "Read both.")
    first = await answered(request, server)
    results = (
        ToolResultMessage("call_2", "read", "alpha"),
        ToolResultMessage("call_3", "read", "File not found", is_error=True),
    )
    history = (*request.messages, first, *results)
    second = await answered(request_of(openai(), *history), server)
    history = (*history, second, UserMessage((Text("Thanks."),)))
    await answered(request_of(openai(), *history), server)
    assert server.bodies[2]["input"][2:-1] == [
        {
            "type": "reasoning",
            "encrypted_content": "sealed-0",
            "summary": [
                {"type": "summary_text", "text": "First."},
                {"type": "summary_text", "text": "Then."},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "I will read."}]},
        {
            "type": "function_call",
            "call_id": "call_2",
            "name": "read",
            "arguments": '{"filePath":"/a"}',
        },
        {
            "type": "function_call",
            "call_id": "call_3",
            "name": "read",
            "arguments": '{"filePath":"/b"}',
        },
        {"type": "function_call_output", "call_id": "call_2", "output": "alpha"},
        {"type": "function_call_output", "call_id": "call_3", "output": "File not found"},
        {"type": "reasoning", "encrypted_content": "other-0", "summary": []},
        {
            "role": "assistant",
            "content": [{"type": "output_text", "text": "One is missing."}],
            "phase": "final_answer",
        },
    ]


@pytest.mark.parametrize("change", ["text", "seal"])
async def test_the_server_of_these_tests_refuses_changed_reasoning(change: str) -> None:
    server = ResponsesServer(answer(reasoning(0, "First."), message(1, "Hi.")), answer())
    request = request_of(openai())
    thought, text = (await answered(request, server)).content
    assert isinstance(thought, Reasoning)
    assert thought.metadata is not None
    changed = (
        Reasoning("Else.", thought.metadata)
        if change == "text"
        else Reasoning(thought.text, {"openai": {"reasoningEncryptedContent": "forged"}})
    )
    again = request_of(openai(), *request.messages, AssistantMessage((changed, text)), "More.")
    end = (await play(again, server))[-1]
    assert isinstance(end, Failed)
    assert isinstance(end.error, BadRequest)


async def test_reasoning_of_other_vendors_is_left_out() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    strange = AssistantMessage(
        (
            Reasoning("Thought.", {"anthropic": {"signature": "sig"}}),
            Reasoning("Unsigned."),
            Reasoning("Odd.", {"openai": "odd"}),
            Text("Said.", {"anthropic": {"phase": "x"}}),
        )
    )
    await answered(request_of(openai(), "Hello", strange, "And?"), server)
    assert server.bodies[0]["input"][2:3] == [
        {"role": "assistant", "content": [{"type": "output_text", "text": "Said."}]}
    ]


async def test_ids_of_calls_that_are_too_long_are_replaced_in_both_places() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    long = "x" * 100
    history = AssistantMessage((ToolCall(long, "read", {}),))
    await answered(
        request_of(openai(), "Hello", history, ToolResultMessage(long, "read", "alpha")), server
    )
    asked, result = server.bodies[0]["input"][2:]
    assert asked["call_id"] == result["call_id"]


async def test_files_of_prompts_and_of_tools_are_parts() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    history = (
        UserMessage((Text("Look."), PNG, PDF)),
        AssistantMessage((ToolCall("c1", "read", {}),)),
        ToolResultMessage("c1", "read", "Read.", files=(PNG, PDF)),
    )
    await answered(request_of(openai(), *history), server)
    _, user, _, result = server.bodies[0]["input"]
    image = {"type": "input_image", "image_url": PNG.data_url}
    file = {"type": "input_file", "filename": "doc.pdf", "file_data": PDF.data_url}
    assert user["content"] == [{"type": "input_text", "text": "Look."}, image, file]
    assert result["output"] == [
        {"type": "input_text", "text": "Read."},
        image,
        {**file, "filename": "data"},
    ]


async def test_a_system_message_stays_at_its_place() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(openai(), "One", SystemMessage("Changed."), "Two"), server)
    assert [item["role"] for item in server.bodies[0]["input"]] == [
        "developer",
        "user",
        "developer",
        "user",
    ]


async def test_models_that_do_not_reason_have_a_system_and_are_sampled() -> None:
    model = openai("gpt-4o", capabilities=Capabilities(temperature=True, input=ALL))
    server = ResponsesServer(answer(message(0, "Hi.")), reasons=False)
    await answered(request_of(model, temperature=0.3, top_p=0.7), server)
    body = server.bodies[0]
    assert (body["temperature"], body["top_p"]) == (0.3, 0.7)
    assert "reasoning" not in body
    assert "include" not in body


@pytest.mark.parametrize(("effort", "is_sampled"), [("none", True), ("high", False)])
def test_models_that_reason_are_sampled_while_they_do_not_think(
    effort: str, is_sampled: bool
) -> None:
    model = openai(options={"reasoningEffort": effort})
    body = Responses().encode(request_of(model, temperature=0.3, top_p=0.7))
    assert ("temperature" in body) is is_sampled
    assert ("top_p" in body) is is_sampled
    assert body["reasoning"] == {"effort": effort, "summary": "auto"}


def test_options_have_the_names_of_the_wire() -> None:
    options = {
        "serviceTier": "flex",
        "parallelToolCalls": False,
        "metadata": {"a": "b"},
        "promptCacheKey": "mine",
        "textVerbosity": "high",
        "reasoningSummary": "detailed",
        "store": True,
        "custom_option": "v1",
        "previousResponseId": "resp_0",
    }
    body = Responses().encode(request_of(openai(options=options), tools=()))
    assert body == {
        "model": "gpt-5.4",
        "input": body["input"],
        "max_output_tokens": 32_000,
        "text": {"verbosity": "high"},
        "store": True,
        "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "mine",
        "reasoning": {"effort": "medium", "summary": "detailed"},
        "service_tier": "flex",
        "parallel_tool_calls": False,
        "metadata": {"a": "b"},
        "stream": True,
    }


async def test_zen_gets_headers_of_its_own() -> None:
    model = model_of(
        "@ai-sdk/openai", "opencode", "gpt-5.2", base_url="https://opencode.ai/zen/v1/"
    )
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(model, prompt_id="msg_1"), server)
    request = server.requests[0]
    assert str(request.url) == "https://opencode.ai/zen/v1/responses"
    assert request.headers["x-opencode-session"] == "ses_1"
    assert request.headers["x-opencode-request"] == "msg_1"
    assert "x-session-id" not in request.headers
    assert server.bodies[0]["max_output_tokens"] == 32_000


async def test_a_chatgpt_plan_is_told_its_instructions_apart() -> None:
    model = openai(connection={"chatgpt_account": "acc_1"})
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(model, temperature=0.5, max_output_tokens=64), server)
    request, body = server.requests[0], server.bodies[0]
    assert str(request.url) == "https://chatgpt.com/backend-api/codex/responses"
    assert request.headers["chatgpt-account-id"] == "acc_1"
    assert body["instructions"] == "Be terse.\nBe kind."
    assert [item["role"] for item in body["input"]] == ["user"]
    assert not body.keys() & {"max_output_tokens", "temperature"}


async def test_openai_is_told_a_limit_only_when_somebody_wants_one() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(openai(), max_output_tokens=64), server)
    assert server.bodies[0]["max_output_tokens"] == 64


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)
parts = st.one_of(
    st.builds(lambda n, s: ("reasoning", n, s), st.integers(0, 9), st.lists(texts, max_size=3)),
    st.builds(lambda t: ("message", t), texts),
    st.builds(
        lambda a: ("call", a), st.dictionaries(texts, st.none() | st.integers() | texts, max_size=3)
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(parts, min_size=1, max_size=6))
async def test_what_was_said_is_sent_in_the_same_bytes_for_ever(content: list[Any]) -> None:
    items = []
    for n, (kind, *rest) in enumerate(content):
        match kind:
            case "reasoning":
                items.append(reasoning(n, *rest[1], seal=f"seal{rest[0]}"))
            case "message":
                items.append(message(n, rest[0]))
            case _:
                items.append(call(n, "read", json.dumps(rest[0])))
    items.append(message(len(items), "End."))
    server = ResponsesServer(answer(*items), answer(message(0, "Hi.")), answer(*items))
    request = request_of(openai())
    first = await answered(request, server)
    results = [
        ToolResultMessage(part.id, part.name, "ok")
        for part in first.content
        if isinstance(part, ToolCall)
    ]
    again = request_of(openai(), *request.messages, first, *results)
    await answered(again, server)
    sent = server.bodies[1]["input"][2:]
    kinds = [item.get("type", item.get("role")) for item in sent if "output" not in item]
    wanted = [{"message": "assistant", "call": "function_call"}.get(k, k) for k, *_ in content]
    assert kinds == [*wanted, "assistant"]
    # What is decoded again is sent again in the same bytes, and the beginning stays what it was.
    assert await answered(request, server) == first
    assert server.bodies[1]["input"][:2] == server.bodies[0]["input"]


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(
            ["type", "item", "delta", "output_index", "summary", "text", "content", "usage", "id",
             "response", "status", "error", "code", "arguments", "call_id", "encrypted_content"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
kinds_of_frames = st.sampled_from(
    ["response.output_item.added", "response.output_item.done", "response.output_text.delta",
     "response.reasoning_summary_text.delta", "response.function_call_arguments.delta",
     "response.completed", "response.incomplete", "response.failed", "error", "new", None, 7]
)  # fmt: skip
items_ = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "new", 1])},
    optional={"id": odd, "summary": odd, "content": odd, "arguments": odd, "call_id": odd},
)
frames_ = st.fixed_dictionaries(
    {"type": kinds_of_frames},
    optional={"item": items_ | odd, "delta": odd, "output_index": odd, "response": odd},
)


@pytest.mark.deep
@settings(max_examples=200, deadline=None)
@given(st.lists(frames_, max_size=8))
def test_odd_frames_never_break_the_decoder(frames: list[Any]) -> None:
    decoder = ResponsesDecoder("openai")
    events = []
    try:
        for frame in frames:
            events += list(decoder.feed(frame))
    except StreamError:
        return
    events += list(decoder.end())
    assert isinstance(events[-1], Finished | Failed)
    starts = sum(type(event).__name__ == "ToolCallStart" for event in events)
    ends = sum(type(event).__name__ == "ToolCallEnd" for event in events)
    assert isinstance(events[-1], Failed) or starts == ends
