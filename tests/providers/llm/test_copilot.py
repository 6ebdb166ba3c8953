from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from providers.llm.errors import NetworkError
from providers.llm.events import Failed, Finished, FinishReason
from providers.llm.json import JsonObject
from providers.llm.messages import (
    AssistantMessage,
    File,
    Reasoning,
    ResolvedModel,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from providers.llm.route import route_of
from tests.providers.llm.conversation import KEY, answered, model_of, play, request_of
from tests.providers.llm.servers_responses import (
    Pieces,
    ResponsesServer,
    answer,
    call,
    message,
    reasoning,
)

Json = dict[str, Any]
PNG = File("image/png", "data:image/png;base64,iVBORw0K", "pic.png")
PDF = File("application/pdf", "data:application/pdf;base64,JVBERi0x", "doc.pdf")
MARK = {"type": "ephemeral"}
SEAL: JsonObject = {"copilot": {"reasoningOpaque": "sealed"}}


def copilot(name: str = "claude-sonnet-4.6", **fields: Any) -> ResolvedModel:
    return model_of("@ai-sdk/github-copilot", "github-copilot", name, **fields)


def chunk(finish: str | None = None, **delta: Any) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def tool_call(index: int, arguments: Json) -> Json:
    function = {"name": "read", "arguments": json.dumps(arguments)}
    return chunk(tool_calls=[{"index": index, "id": f"call_{index}", "function": function}])


class CopilotServer(httpx.AsyncBaseTransport):
    """Refuses a seal that it has not given, and results that match no call."""

    def __init__(self, *answers: list[Json]) -> None:
        self.answers = list(answers)
        self.bodies: list[Json] = []
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread())
        self.requests.append(request)
        self.bodies.append(body)
        if fault := self.fault(body):
            error = {"error": {"message": fault, "code": "invalid_request_body"}}
            return httpx.Response(400, stream=Pieces(json.dumps(error).encode(), is_cut=False))
        lines = "".join(f"data: {json.dumps(frame)}\n\n" for frame in self.answers.pop(0))
        return httpx.Response(200, stream=Pieces(lines.encode(), is_cut=False))

    def fault(self, body: Json) -> str:
        known = {"model", "messages", "tools", "tool_choice", "stream", "max_tokens",
                 "temperature", "top_p", "reasoning_effort"}  # fmt: skip
        if unknown := body.keys() - known:
            return f"unknown fields {unknown}"
        open_calls: set[str] = set()
        for each in body["messages"]:
            if each.get("reasoning_opaque", "sealed") != "sealed":
                return "invalid reasoning_opaque"
            if each["role"] == "tool" and each["tool_call_id"] not in open_calls:
                return "tool result without a call"
            if each["role"] != "tool":
                open_calls = {one["id"] for one in each.get("tool_calls", ())}
            if "'file'" in str(each["content"]):
                return "type has to be either 'image_url' or 'text'"
        return "tools are missing" if "tool_calls" in str(body) and not body.get("tools") else ""


def test_the_wire_by_the_model(subtests: pytest.Subtests) -> None:
    cases = [
        ("gpt-5.4", "responses"),
        ("gpt-6-sol", "responses"),
        ("gpt-5-mini", "chat/completions"),
        ("gpt-4o", "chat/completions"),
        ("claude-sonnet-4.6", "chat/completions"),
        ("gemini-3.5-flash", "chat/completions"),
    ]
    for name, path in cases:
        with subtests.test(name=name):
            assert (
                route_of(request_of(copilot(name))).url == f"https://api.githubcopilot.com/{path}"
            )


@pytest.mark.parametrize(
    ("name", "endpoints", "path"),
    [
        ("claude-sonnet-4.6", "/v1/messages /chat/completions", "v1/messages"),
        ("gpt-5-mini", "/chat/completions /responses", "responses"),
        ("gpt-5.4", "/chat/completions", "chat/completions"),
    ],
)
def test_the_wire_by_the_list_of_models(name: str, endpoints: str, path: str) -> None:
    model = copilot(name, connection={"supported_endpoints": endpoints})
    assert route_of(request_of(model)).url == f"https://api.githubcopilot.com/{path}"


async def test_claude_by_messages_has_a_bearer_and_plain_tools() -> None:
    server = CopilotServer([])
    model = copilot(connection={"supported_endpoints": "/v1/messages"})
    await play(request_of(model), server)
    headers, body = server.requests[0].headers, server.bodies[0]
    assert headers["authorization"] == f"Bearer {KEY}"
    assert "x-api-key" not in headers
    assert "interleaved-thinking-2025-05-14" in headers["anthropic-beta"]
    assert headers["x-initiator"] == "user"
    assert "eager_input_streaming" not in body["tools"][0]
    assert body["system"][0]["cache_control"] == MARK


async def test_what_copilot_is_told_of_a_call() -> None:
    server = CopilotServer([chunk(content="Hi."), chunk("stop")])
    await answered(request_of(copilot()), server)
    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["openai-intent"] == "conversation-edits"
    assert headers["x-github-api-version"] == "2026-06-01"
    assert headers["x-interaction-id"] == "ses_1"
    assert headers["x-initiator"] == "user"
    assert "copilot-vision-request" not in headers
    assert "x-interaction-type" not in headers


def test_who_has_asked() -> None:
    history = (AssistantMessage((ToolCall("c", "read", {}),)), ToolResultMessage("c", "read", "a"))

    def initiator(*messages: Any, **fields: Any) -> str:
        return route_of(request_of(copilot(), *messages, **fields)).headers["x-initiator"]

    assert initiator("Hello") == "user"
    assert initiator("Hello", *history) == "agent"
    assert initiator("Hello", *history, "More") == "user"
    assert initiator("Hello", purpose="compaction") == "agent"
    assert initiator("Hello", parent_session_id="ses_0") == "agent"
    assert initiator("Hello", purpose="title") == "user"


def test_pictures_and_titles_are_told() -> None:
    shown = request_of(copilot(), UserMessage((Text("Look."), PNG)), purpose="title")
    headers = route_of(shown).headers
    assert headers["copilot-vision-request"] == "true"
    assert headers["x-interaction-type"] == "agent-session-name-generation"
    read = ToolResultMessage("c", "read", "a", files=(PNG,))
    history = (AssistantMessage((ToolCall("c", "read", {}),)), read)
    assert "copilot-vision-request" in route_of(request_of(copilot(), "Hi", *history)).headers


async def test_two_steps_go_back_with_their_seal() -> None:
    server = CopilotServer(
        [
            chunk(role="assistant", content=""),
            chunk(reasoning_text="Hm"),
            chunk(reasoning_text="m."),
            chunk(reasoning_opaque="sealed"),
            chunk(content="I read."),
            tool_call(0, {"filePath": "/a"}),
            tool_call(1, {"filePath": "/b"}),
            chunk("tool_calls"),
        ],
        [chunk(content="Done."), chunk("stop")],
    )
    events = await play(request_of(copilot()), server)
    assert isinstance(events[-1], Finished)
    assert events[-1].reason is FinishReason.TOOL_CALLS
    said = await answered(
        request_of(copilot()),
        CopilotServer(
            [
                chunk(reasoning_text="Hmm."),
                chunk(reasoning_opaque="sealed"),
                chunk(content="I read."),
                tool_call(0, {"filePath": "/a"}),
                tool_call(1, {"filePath": "/b"}),
                chunk("tool_calls"),
            ]
        ),
    )
    assert said.content == (
        Reasoning("Hmm.", SEAL),
        Text("I read.", SEAL),
        ToolCall("call_0", "read", {"filePath": "/a"}, SEAL),
        ToolCall("call_1", "read", {"filePath": "/b"}, SEAL),
    )
    results = (
        ToolResultMessage("call_0", "read", "alpha"),
        ToolResultMessage("call_1", "read", "File not found", is_error=True),
    )
    await answered(request_of(copilot(), "Hello", said, *results), server)

    def sealed(index: int, path: str) -> Json:
        function = {"name": "read", "arguments": f'{{"filePath":"{path}"}}'}
        made = {"id": f"call_{index}", "type": "function", "function": function}
        return {**made, "reasoningOpaque": "sealed"}

    assert server.bodies[1]["messages"] == [
        {"role": "system", "content": "Be terse.\nBe kind.", "copilot_cache_control": MARK},
        {"role": "user", "content": "Hello"},
        {
            "role": "assistant",
            "content": "I read.",
            "tool_calls": [
                sealed(0, "/a"),
                {**sealed(1, "/b"), "copilot_cache_control": MARK},
            ],
            "reasoning_text": "Hmm.",
            "reasoning_opaque": "sealed",
        },
        {
            "role": "tool",
            "tool_call_id": "call_0",
            "content": "alpha",
            "reasoningOpaque": "sealed",
        },
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": "File not found",
            "reasoningOpaque": "sealed",
            "copilot_cache_control": MARK,
        },
    ]


async def test_a_seal_without_thinking_is_kept() -> None:
    server = CopilotServer([chunk(content="Hi."), chunk(reasoning_opaque="sealed"), chunk("stop")])
    said = await answered(request_of(copilot("gemini-3.5-flash")), server)
    assert said.content == (Text("Hi.", SEAL),)
    server = CopilotServer([chunk(reasoning_opaque="sealed"), chunk("stop")])
    said = await answered(request_of(copilot("gemini-3.5-flash")), server)
    assert said.content == (Reasoning("", SEAL),)


async def test_foreign_thinking_is_left_out_and_an_empty_text_is_null() -> None:
    server = CopilotServer([chunk(content="Hi."), chunk("stop")])
    history = (
        AssistantMessage(
            (Reasoning("Hm.", {"anthropic": {"signature": "s"}}), ToolCall("c", "read", {}))
        ),
        ToolResultMessage("c", "read", "a"),
    )
    await answered(request_of(copilot("gpt-5-mini"), "Hello", *history), server)
    assistant = server.bodies[0]["messages"][2]
    assert assistant["content"] is None
    assert not assistant.keys() & {"reasoning_text", "reasoning_opaque", "reasoning_content"}
    assert "copilot_cache_control" not in str(server.bodies[0])
    assert "max_tokens" not in server.bodies[0]
    assert server.bodies[0]["reasoning_effort"] == "medium"


async def test_marks_are_on_the_last_part_and_documents_are_told_in_words() -> None:
    server = CopilotServer([chunk(content="Hi."), chunk("stop")])
    await answered(request_of(copilot(), UserMessage((Text("Look."), PDF, PNG))), server)
    text, note, image = server.bodies[0]["messages"][1]["content"]
    assert text == {"type": "text", "text": "Look."}
    assert "doc.pdf" in note["text"]
    assert image["copilot_cache_control"] == MARK


async def test_a_history_with_calls_has_a_tool() -> None:
    server = CopilotServer([chunk(content="Hi."), chunk("stop")])
    history = (AssistantMessage((ToolCall("c", "read", {}),)), ToolResultMessage("c", "read", "a"))
    await answered(request_of(copilot(), "Hello", *history, tools=()), server)
    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["_noop"]


async def test_a_chat_that_is_cut_is_a_broken_connection() -> None:
    server = CopilotServer([chunk(reasoning_text="Hm")])
    end = (await play(request_of(copilot()), server))[-1]
    assert isinstance(end, Failed)
    assert isinstance(end.error, NetworkError)


async def test_responses_keep_schemas_and_send_no_reasoning() -> None:
    server = ResponsesServer(
        answer(reasoning(0, "Hm.", seal=None), message(1, "I read."), call(2, "read", "{}")),
        answer(message(0, "Done.")),
        is_plain_schema=True,
    )
    model = copilot("gpt-5.4")
    said = await answered(request_of(model), server)
    history = (said, ToolResultMessage("call_2", "read", "a", files=(PNG,)))
    await answered(request_of(model, "Hello", *history, temperature=0.5), server)
    body = server.bodies[1]
    assert [item.get("type", item.get("role")) for item in body["input"]] == [
        "developer",
        "user",
        "assistant",
        "function_call",
        "function_call_output",
        "user",
    ]
    assert "$schema" in body["tools"][0]["parameters"]
    assert body["reasoning"] == {"effort": "medium", "summary": "auto"}
    absent = {"include", "prompt_cache_key", "max_output_tokens", "temperature", "text"}
    assert not body.keys() & absent
