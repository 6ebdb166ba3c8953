from __future__ import annotations

from typing import Any

import pytest

from providers.encode import encode_request
from providers.messages import (
    AssistantMessage,
    Capabilities,
    Image,
    Limit,
    Message,
    ProviderKind,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.providers.requests import READ, collect, make_model, make_request
from tests.providers.servers import AnthropicServer, OpenAIServer, Reply

PIXEL = Image("image/png", "data:image/png;base64,iVBORw0KGgo=")
CALL = ToolCall("call_1", "read", {"filePath": "a.py"})
RESULT = ToolResultMessage("call_1", "read", "1: print()", is_error=False)
HISTORY: tuple[Message, ...] = (
    UserMessage((Text("Read a.py"),)),
    AssistantMessage((Text("Sure."), CALL)),
    RESULT,
    SystemMessage("The date changed."),
    UserMessage((Text("And now?"),)),
)


async def sent(kind: ProviderKind, *messages: Message | str, **fields: Any) -> dict[str, Any]:
    model_fields = fields.pop("model", {})
    server_class = AnthropicServer if kind is ProviderKind.ANTHROPIC else OpenAIServer
    with server_class([Reply(text="ok")]) as server:
        model = make_model(kind, base_url=server.base_url, **model_fields)
        await collect(make_request(model, *messages, **fields))
        return server.requests[0].json


def wire(kind: ProviderKind, *messages: Message | str, **fields: Any) -> dict[str, Any]:
    return encode_request(make_request(make_model(kind, **fields), *messages, tools=(READ,)))


async def test_openai_gets_the_conversation_in_order() -> None:
    body = await sent(ProviderKind.OPENAI, *HISTORY, tools=(READ,), max_output_tokens=77)
    assert [message["role"] for message in body["messages"]] == [
        "system", "user", "assistant", "tool", "system", "user",
    ]  # fmt: skip
    assert body["messages"][2]["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "read", "arguments": '{"filePath": "a.py"}'},
        }
    ]
    assert body["messages"][3]["tool_call_id"] == "call_1"
    assert body["tools"][0]["function"]["name"] == "read"
    assert body["stream_options"] == {"include_usage": True}
    assert body["store"] is False
    assert body["prompt_cache_key"] == "ses_1"
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize("kind", [ProviderKind.ANTHROPIC, ProviderKind.COMPATIBLE])
async def test_a_system_message_in_the_middle_stays_in_the_middle(kind: ProviderKind) -> None:
    body = await sent(kind, *HISTORY, tools=(READ,))
    texts = [str(message["content"]) for message in body["messages"] if message["role"] == "user"]
    assert "<system-update>\\nThe date changed." in texts[-1] or any(
        "The date changed." in text and "<system-update>" in text for text in texts
    )
    head = body.get("system") or body["messages"][0]["content"]
    assert "The date changed." not in str(head)


async def test_a_compatible_server_gets_no_two_neighbours_of_one_role() -> None:
    body = await sent(
        ProviderKind.COMPATIBLE,
        UserMessage((Text("one"),)),
        SystemMessage("The date changed."),
        AssistantMessage((Text("yes"),)),
        UserMessage((Text("two"),)),
        UserMessage((Text("three"), PIXEL)),
        system=("You code.", "Today is Friday."),
        model={"capabilities": Capabilities(input=("text", "image"))},
    )
    facts = [(message["role"], message["content"]) for message in body["messages"]]
    assert facts[:3] == [
        ("system", "You code.\n\nToday is Friday."),
        ("user", "one\n\n<system-update>\nThe date changed.\n</system-update>"),
        ("assistant", "yes"),
    ]
    role, content = facts[3]
    assert role == "user"
    assert [part.get("text", part["type"]) for part in content] == ["two", "three", "image_url"]
    assert len(facts) == 4


async def test_anthropic_gets_marks_blocks_and_a_limit() -> None:
    history: tuple[Message, ...] = (
        UserMessage((Text("Read a.py"),)),
        AssistantMessage(
            (
                Reasoning("Hm.", {"anthropic": {"signature": "sig-1"}}),
                Reasoning("", {"anthropic": {"redactedData": "opaque"}}),
                Reasoning("of another model"),
                Text("Sure."),
                ToolCall("call:1/x", "read", {"filePath": "a.py"}),
            )
        ),
        ToolResultMessage("call:1/x", "read", "done", is_error=False, images=(PIXEL,)),
    )
    body = await sent(
        ProviderKind.ANTHROPIC, *history, system=("One.", "Two.", "Three."), tools=(READ,)
    )
    mark = {"type": "ephemeral"}
    assert [block.get("cache_control") for block in body["system"]] == [mark, mark, None]
    said = body["messages"][1]["content"]
    assert [block["type"] for block in said] == [
        "thinking", "redacted_thinking", "text", "tool_use",
    ]  # fmt: skip
    assert said[0]["signature"] == "sig-1"
    assert said[1]["data"] == "opaque"
    assert said[3]["id"] == "call_1_x"
    result = body["messages"][2]["content"][0]
    assert result["tool_use_id"] == "call_1_x"
    assert [block["type"] for block in result["content"]] == ["text", "image"]
    assert body["max_tokens"] == 4_000
    assert str(body).count("'cache_control'") == 4


async def test_pictures_of_a_tool_follow_as_a_message_elsewhere() -> None:
    result = ToolResultMessage("call_1", "read", "a picture", is_error=False, images=(PIXEL,))
    body = await sent(ProviderKind.COMPATIBLE, "Look", AssistantMessage((CALL,)), result)
    assert body["messages"][-2]["role"] == "tool"
    note, picture = body["messages"][-1]["content"]
    assert note["text"] == "Attached media from tool result: read"
    assert picture["image_url"]["url"] == PIXEL.data_url


def test_pictures_are_left_out_for_a_model_that_cannot_see() -> None:
    body = wire(
        ProviderKind.COMPATIBLE, UserMessage((Text("Look"), PIXEL)), capabilities=Capabilities()
    )
    assert PIXEL.data_url not in str(body)
    assert "cannot see pictures" in str(body)


def test_reasoning_goes_back_in_the_field_the_model_names() -> None:
    capabilities = Capabilities(interleaved="reasoning_content")
    message = AssistantMessage((Reasoning("Hm."), Text("Hi"), CALL))
    body = wire(ProviderKind.COMPATIBLE, "x", message, RESULT, capabilities=capabilities)
    assert body["messages"][2]["reasoning_content"] == "Hm."
    plain = wire(ProviderKind.COMPATIBLE, "x", message, RESULT)
    assert "reasoning_content" not in plain["messages"][2]


@pytest.mark.parametrize("kind", list(ProviderKind))
def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes(
    kind: ProviderKind,
) -> None:
    stray = ToolResultMessage("call_9", "read", "stray", is_error=False)
    body = wire(
        kind, "x", AssistantMessage((CALL, ToolCall("call_2", "read", {}))), "y", RESULT, stray
    )
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert "1: print()" in str(body["messages"][3])
    assert "interrupted" in str(body["messages"][4])
    assert "stray" not in str(body)


def test_lone_surrogates_are_replaced_everywhere() -> None:
    body = encode_request(
        make_request(
            make_model(ProviderKind.COMPATIBLE),
            UserMessage((Text("a\ud800b 😀"),)),
            AssistantMessage((ToolCall("call_1", "read", {"x\udfff": ["\ud83d"]}),)),
            ToolResultMessage("call_1", "read", "\udc00", is_error=False),
            system=("s\ud800",),
        )
    )
    text = str(body["messages"])
    text.encode()
    assert "a\ufffdb 😀" in text


def test_empty_parts_and_messages_are_left_out() -> None:
    body = wire(
        ProviderKind.COMPATIBLE,
        UserMessage((Text("  "),)),
        AssistantMessage((Reasoning("only thinking"),)),
        AssistantMessage((Text(""), Text("said"))),
        SystemMessage(" "),
        UserMessage((Text(""), Text("x"))),
    )
    assert [message["content"] for message in body["messages"][1:]] == ["said", "x"]


async def test_a_summary_without_tools_still_offers_anthropic_one() -> None:
    body = await sent(ProviderKind.ANTHROPIC, "x", AssistantMessage((CALL,)), RESULT)
    assert [tool["name"] for tool in body["tools"]] == ["unavailable"]


def test_consecutive_requests_share_their_prefix() -> None:
    model = make_model(ProviderKind.OPENAI)
    first = encode_request(make_request(model, *HISTORY[:1]))["messages"]
    second = encode_request(make_request(model, *HISTORY[:3]))["messages"]
    third = encode_request(make_request(model, *HISTORY))["messages"]
    assert second[: len(first)] == first
    assert third[: len(second)] == second


def test_the_schema_keeps_known_keywords_only() -> None:
    schema = {
        "$schema": "x",
        "properties": {
            "a": {"const": "on"},
            "b": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]},
            "c": {"type": "array"},
            "d": {"properties": {}, "x-odd": 1, "required": ["gone"]},
            "e": True,
            "f": {"anyOf": [{"type": "string"}, {"minimum": 1}]},
        },
        "required": ["a", "missing"],
    }
    tool = READ.__class__("t", "d", schema)
    request = make_request(make_model(ProviderKind.OPENAI), tools=(tool,))
    clean = encode_request(request)["tools"][0]["function"]["parameters"]
    assert clean == {
        "type": "object",
        "properties": {
            "a": {"enum": ["on"], "type": "string"},
            "b": {"type": "array", "items": {"type": "integer"}},
            "c": {"type": "array", "items": {"type": "string"}},
            "d": {"properties": {}, "type": "object", "required": []},
            "e": {"type": "string"},
            "f": {"anyOf": [{"type": "string"}, {"minimum": 1, "type": "number"}]},
        },
        "required": ["a"],
    }


async def test_options_reach_the_wire_and_reserved_ones_do_not() -> None:
    options = {
        "reasoningEffort": "high",
        "chat_template_args": {"thinking": True},
        "messages": [],
        "model": "other",
        "apiKey": "never-on-the-wire",
    }
    fields = {"options": options, "headers": {"X-Team": "a"}}
    with OpenAIServer([Reply(text="ok")]) as server:
        model = make_model(ProviderKind.COMPATIBLE, base_url=server.base_url, **fields)
        await collect(make_request(model, "Hello"))
        request = server.requests[0]
    assert request.json["reasoning_effort"] == "high"
    assert request.json["chat_template_args"] == {"thinking": True}
    assert request.json["model"] == "test-model"
    assert len(request.json["messages"]) == 2
    assert "never-on-the-wire" not in str(request.json)
    assert request.headers["x-team"] == "a"
    assert request.headers["user-agent"].startswith("opencode-web/")


async def test_a_server_without_a_key_is_not_sent_the_operators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-of-the-operator")
    with OpenAIServer([Reply(text="ok")]) as server:
        model = make_model(ProviderKind.COMPATIBLE, base_url=server.base_url, key="")
        await collect(make_request(model, "Hello"))
        assert server.requests[0].headers["authorization"] == "Bearer not-needed"


@pytest.mark.parametrize(
    ("kind", "limit", "maximum"),
    [
        (ProviderKind.COMPATIBLE, Limit(), None),
        (ProviderKind.COMPATIBLE, Limit(output=64_000), 32_000),
        (ProviderKind.ANTHROPIC, Limit(), 8_192),
        (ProviderKind.ANTHROPIC, Limit(output=16_000), 16_000),
    ],
)
def test_the_longest_answer_is_bounded(
    kind: ProviderKind, limit: Limit, maximum: int | None
) -> None:
    assert wire(kind, "x", limit=limit).get("max_tokens") == maximum


@pytest.mark.parametrize("base", ["", "/v1"])
async def test_anthropic_is_found_with_and_without_the_version(base: str) -> None:
    with AnthropicServer([Reply(text="ok")]) as server:
        root = server.base_url.removesuffix("/v1") + base
        await collect(make_request(make_model(ProviderKind.ANTHROPIC, base_url=root)))
        assert server.requests[0].path == "/v1/messages"
