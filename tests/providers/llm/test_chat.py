from __future__ import annotations

from typing import Any

import pytest

from providers.llm import encode
from providers.llm.facts import Capabilities, Limit
from providers.llm.messages import (
    AssistantMessage,
    File,
    Message,
    ModelRef,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from tests.providers.requests import READ, collect, make_model, make_request
from tests.providers.servers import OpenAIServer, Reply

PIXEL = File("image/png", "data:image/png;base64,iVBORw0KGgo=", "dot.png")
PAPER = File("application/pdf", "data:application/pdf;base64,JVBERi0=")
CALL = ToolCall("call_1", "read", {"filePath": "a.py"})
RESULT = ToolResultMessage("call_1", "read", "1: print()")
HISTORY: tuple[Message, ...] = (
    UserMessage((Text("Read a.py"),)),
    AssistantMessage((Text("Sure."), CALL)),
    RESULT,
    SystemMessage("The date changed."),
    UserMessage((Text("And now?"),)),
)
SEES = Capabilities(input=frozenset({"text", "image", "pdf"}), temperature=True)


def wire(*messages: Message | str, **fields: Any) -> Any:
    more = {name: fields.pop(name) for name in ("temperature", "top_p") if name in fields}
    fields.setdefault("npm", "@ai-sdk/openai-compatible")
    fields.setdefault("base_url", "http://127.0.0.1:1/v1")
    return encode(make_request(make_model(**fields), *messages, tools=(READ,), **more))


def test_the_conversation_goes_in_order() -> None:
    body = wire(*HISTORY)
    system, asked, said, result, more = body["messages"]
    assert (system["role"], asked) == ("system", {"role": "user", "content": "Read a.py"})
    assert said["content"] == "Sure."
    assert said["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "read", "arguments": '{"filePath":"a.py"}'},
        }
    ]
    assert result == {"role": "tool", "tool_call_id": "call_1", "content": "1: print()"}
    assert [part["text"] for part in more["content"]] == [
        "<system-update>\nThe date changed.\n</system-update>",
        "And now?",
    ]
    assert body["tools"][0]["function"]["name"] == "read"
    assert body["tool_choice"] == "auto"
    assert body["stream_options"] == {"include_usage": True}


def test_no_two_neighbours_have_one_role() -> None:
    body = wire(
        UserMessage((Text("one"),)),
        SystemMessage("The date changed."),
        AssistantMessage((Text("yes"),)),
        UserMessage((Text("two"),)),
        UserMessage((Text("three"), PIXEL)),
        SystemMessage("It rains."),
        capabilities=SEES,
    )
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    last = body["messages"][-1]["content"]
    assert [part.get("text", part["type"]) for part in last] == [
        "two",
        "three",
        "image_url",
        "<system-update>\nIt rains.\n</system-update>",
    ]


def test_files_of_parallel_results_follow_all_of_them() -> None:
    other = ToolCall("call_2", "read", {})
    body = wire(
        "Look",
        AssistantMessage((CALL, other)),
        ToolResultMessage("call_1", "read", "a picture", files=(PIXEL,)),
        ToolResultMessage("call_2", "read", "a paper", files=(PAPER,)),
        capabilities=SEES,
    )
    *_, first, second, shown = body["messages"]
    assert [first["role"], second["role"], shown["role"]] == ["tool", "tool", "user"]
    _note, picture, paper = shown["content"]
    assert picture["image_url"]["url"] == PIXEL.data_url
    assert paper["file"] == {"filename": "document.pdf", "file_data": PAPER.data_url}


def test_what_a_model_cannot_read_is_said_instead() -> None:
    result = ToolResultMessage("call_1", "read", "read it", files=(PAPER,))
    seen = Capabilities(input=frozenset({"text", "image"}))
    body = wire(UserMessage((Text("Look"), PIXEL, PAPER)), AssistantMessage((CALL,)), result,
                capabilities=seen)  # fmt: skip
    assert PAPER.base64 not in str(body)
    assert PIXEL.data_url in str(body)
    assert "takes no pdf input" in body["messages"][1]["content"][2]["text"]
    assert "takes no pdf input" in body["messages"][3]["content"]
    assert body["messages"][3]["content"].startswith("read it\n")


def test_reasoning_goes_back_in_the_field_the_model_names() -> None:
    said = AssistantMessage((Reasoning("Hm."), Text("Hi"), CALL))
    silent = AssistantMessage((Text("Hi"), CALL))

    def fields_of(message: AssistantMessage, **facts: Any) -> dict[str, Any]:
        body = wire("x", message, RESULT, **facts)
        return {key: value for key, value in body["messages"][2].items() if "reason" in key}

    named = Capabilities(interleaved="reasoning_details")
    assert fields_of(said) == {"reasoning_content": "Hm."}
    assert fields_of(silent) == {}
    assert fields_of(said, capabilities=named) == {"reasoning_details": "Hm."}
    assert fields_of(silent, capabilities=named) == {"reasoning_details": ""}
    assert fields_of(silent, api_model="deepseek-v4-pro") == {"reasoning_content": ""}
    assert fields_of(said, npm="@ai-sdk/groq") == {"reasoning": "Hm."}
    assert fields_of(said, npm="@ai-sdk/perplexity") == {}


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() -> None:
    stray = ToolResultMessage("call_9", "read", "stray")
    body = wire("x", AssistantMessage((CALL, ToolCall("call_2", "read", {}))), "y", RESULT, stray)
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert "1: print()" in str(body["messages"][3])
    assert "interrupted" in str(body["messages"][4])
    assert "stray" not in str(body)


def test_lone_surrogates_are_replaced_everywhere() -> None:
    body = wire(
        UserMessage((Text("a\ud800b 😀"),)),
        AssistantMessage((ToolCall("call_1", "read", {"x\udfff": ["\ud83d"]}),)),
        ToolResultMessage("call_1", "read", "\udc00"),
    )
    text = str(body["messages"])
    text.encode()
    assert "a\ufffdb 😀" in text


def test_empty_parts_and_messages_are_left_out() -> None:
    body = wire(
        UserMessage((Text("  "),)),
        AssistantMessage((Reasoning("only thinking"),)),
        AssistantMessage((Text(""), Text("said"))),
        SystemMessage(" "),
        UserMessage((Text(""), Text("x"))),
    )
    assert [message["content"] for message in body["messages"][1:]] == ["said", "x"]


def test_consecutive_requests_share_their_prefix() -> None:
    first, second, third = (wire(*HISTORY[:end])["messages"] for end in (1, 3, 5))
    assert second[: len(first)] == first
    assert third[: len(second)] == second


def test_options_reach_the_wire_and_reserved_ones_do_not() -> None:
    options: Any = {
        "reasoningEffort": "high",
        "chat_template_args": {"thinking": True},
        "messages": [],
        "model": "other",
        "apiKey": "never-on-the-wire",
        "accessToken": "never-on-the-wire",
        "project": "never-on-the-wire",
        "timeout": 4711,
    }
    body = wire("Hello", options=options)
    assert body["reasoning_effort"] == "high"
    assert body["chat_template_args"] == {"thinking": True}
    assert body["model"] == "test-model"
    assert len(body["messages"]) == 2
    assert not [name for name in ("never-on-the-wire", "4711") if name in str(body)]
    closed = wire("Hello", options=options, npm="@ai-sdk/groq")
    assert "chat_template_args" not in closed
    assert closed["reasoning_effort"] == "high"


def test_families_are_sampled_as_they_want(subtests: pytest.Subtests) -> None:
    cases = [
        ("gemini-3.5-flash", 1, 0.95),
        ("kimi-k2.5", 1, 0.95),
        ("kimi-k2-thinking", 1, None),
        ("moonshotai/kimi-k2-instruct", 0.6, None),
        ("zai-org/GLM-4.6", 1, None),
        ("minimax-m2", 1, 0.95),
        ("qwen3-coder", None, None),
    ]
    for api_model, temperature, top_p in cases:
        with subtests.test(api_model=api_model):
            body = wire("Hello", api_model=api_model, capabilities=SEES)
            assert (body.get("temperature"), body.get("top_p")) == (temperature, top_p)
            given = wire(
                "Hello", api_model=api_model, capabilities=SEES, temperature=0.3, top_p=0.7
            )
            assert (given["temperature"], given["top_p"]) == (0.3, 0.7)
            fixed = wire("Hello", api_model=api_model, capabilities=Capabilities())
            assert "temperature" not in fixed


@pytest.mark.parametrize(
    ("limit", "maximum"), [(Limit(), None), (Limit(output=64_000), 32_000), (Limit(output=9), 9)]
)
def test_the_longest_answer_is_bounded(limit: Limit, maximum: int | None) -> None:
    assert wire("x", limit=limit).get("max_tokens") == maximum
    assert wire("x", limit=limit, options={"maxTokens": 5})["max_tokens"] == 5


async def test_the_request_has_headers_of_its_session_and_of_the_settings() -> None:
    with OpenAIServer([Reply(text="ok")]) as server:
        model = make_model(base_url=server.base_url, headers={"X-Team": "a"}, key="")
        await collect(make_request(model, "Hello"))
        headers = server.requests[0].headers
    assert headers["x-team"] == "a"
    assert headers["x-session-affinity"] == headers["x-session-id"] == "ses_1"
    assert headers["user-agent"].startswith("opencode-web/")
    assert "authorization" not in headers


async def test_opencodes_gateway_gets_headers_of_its_own() -> None:
    with OpenAIServer([Reply(text="ok")]) as server:
        model = make_model(base_url=server.base_url, ref=ModelRef("opencode", "glm-5"))
        await collect(make_request(model, "Hello", prompt_id="msg_1", project_id="prj_1"))
        headers = server.requests[0].headers
    given = [headers[f"x-opencode-{name}"] for name in ("session", "request", "project")]
    assert given == ["ses_1", "msg_1", "prj_1"]
    assert "x-session-id" not in headers


@pytest.mark.parametrize(
    ("npm", "path"),
    [
        ("@ai-sdk/deepinfra", "/v1/openai/chat/completions"),
        ("@ai-sdk/groq", "/v1/chat/completions"),
        ("@ai-sdk/cerebras", "/v1/chat/completions"),
    ],
)
async def test_vendors_are_found_below_their_address(npm: str, path: str) -> None:
    with OpenAIServer([Reply(text="ok")]) as server:
        await collect(make_request(make_model(base_url=server.base_url, npm=npm), "Hello"))
        assert server.requests[0].path == path


def test_a_model_that_cannot_call_tools_is_offered_none() -> None:
    body = wire("Hello", capabilities=Capabilities(toolcall=False))
    assert not {"tools", "tool_choice"} & body.keys()


def test_servers_that_number_their_calls_anew_in_every_answer_get_each_result_once() -> None:
    said, other = AssistantMessage((CALL,)), AssistantMessage((CALL,))
    again = ToolResultMessage("call_1", "read", "2: other")
    messages = wire("x", said, RESULT, other, again)["messages"]
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["1: print()", "2: other"]
