from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm import messages as m
from providers.llm.errors import BadRequest, NetworkError, RateLimited, ServerError
from providers.llm.events import FinishReason
from providers.llm.facts import Capabilities, Limit
from providers.llm.protocols.anthropic_messages import Dialect, Messages
from tests.providers.llm.exchange import (
    KEY,
    PDF,
    PICTURE,
    READ,
    a_model,
    a_request,
    after,
    ask,
    result,
)
from tests.providers.llm.servers_messages import (
    MessagesServer,
    call,
    frames_of,
    redacted,
    text,
    thinking,
)

NPM = "@ai-sdk/anthropic"
MARK = {"type": "ephemeral"}


def claude(model_id: str = "claude-sonnet-4-5", provider: str = "anthropic", **fields: Any) -> Any:
    return a_model(NPM, model_id, provider, **fields)


def wanting(**options: Any) -> Any:
    return claude(options=options)


def encoded(request: m.ProviderRequest) -> Any:
    return Messages().encode(request)


@pytest.fixture
def server() -> MessagesServer:
    return MessagesServer()


async def test_it_says_a_text_and_counts_tokens_once(server: MessagesServer) -> None:
    usage = {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
    server.answer(text("Hello."), usage=usage)
    said = await ask(a_request(claude(), "Hi"), server)
    assert said.text == "Hello."
    assert said.finished.usage == m.Usage(7, 50, 0, 100, 20)
    request = server.requests[0]
    assert str(request.url) == "https://api.anthropic.com/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-beta"] == (
        "structured-outputs-2025-11-13,interleaved-thinking-2025-05-14,"
        "fine-grained-tool-streaming-2025-05-14"
    )


async def test_thinking_goes_back_as_it_came_with_results_and_an_error(
    server: MessagesServer,
) -> None:
    thoughts = (thinking("First.", "sig-1"), thinking("", "sig-2"), redacted("red-1"))
    blocks = (*thoughts, text("Reading."), call("t.1", filePath="a"), call("t2", filePath="b"))
    server.answer(*blocks, stop="tool_use")
    server.issued[0][-2]["id"] = "t_1"
    server.answer(thinking("Second.", "sig-3"), text("Done."))
    server.answer(text("Bye."))
    request = a_request(claude(), "Read both")
    said = await ask(request, server)
    assert said.finished.reason is FinishReason.TOOL_CALLS
    assert [one.arguments for one in said.calls] == [{"filePath": "a"}, {"filePath": "b"}]
    one, two = said.calls
    request = after(request, said, result(one, "alpha"), result(two, "No file.", is_error=True))
    said = await ask(request, server)
    assert said.text == "Done."
    results = server.bodies[1]["messages"][2]["content"]
    assert [block.get("is_error") for block in results] == [None, True]
    assert [block.get("cache_control") for block in results] == [None, MARK]
    request = after(request, said, m.UserMessage((m.Text("Thanks"),)))
    assert (await ask(request, server)).text == "Bye."
    first = server.bodies[2]["messages"][1]["content"]
    assert first[:3] == list(thoughts)


@pytest.mark.parametrize(
    "metadata", [None, {"openai": {"signature": "x"}}, {"anthropic": {}}, {"anthropic": "x"}]
)
def test_thinking_that_the_vendor_did_not_sign_is_left_out(metadata: Any) -> None:
    said = m.AssistantMessage((m.Reasoning("Hm.", metadata), m.Text("Yes.", {"google": {"x": 1}})))
    body = encoded(a_request(claude(), "Hi", said, "Sure?"))
    assert body["messages"][1]["content"] == [
        {"type": "text", "text": "Yes.", "cache_control": MARK}
    ]


async def test_a_changed_signature_is_refused_by_the_server(server: MessagesServer) -> None:
    server.answer(thinking("First.", "sig-1"), text("Yes."))
    request = a_request(claude(), "Hi")
    said = await ask(request, server)
    said.parts[0] = m.Reasoning("First.", {"anthropic": {"signature": "sig-other"}})
    said = await ask(after(request, said, m.UserMessage((m.Text("And?"),))), server)
    assert isinstance(said.failed.error, BadRequest)


async def test_pictures_and_documents_go_where_the_wire_has_them(server: MessagesServer) -> None:
    user = m.UserMessage((m.Text("Look"), PICTURE, PDF))
    used = m.ToolCall("t1", "read", {})
    files = result(used, "Read.", files=(PICTURE, PDF), is_error=True)
    server.answer(text("Seen."))
    request = a_request(claude(), user, m.AssistantMessage((used,)), files)
    assert (await ask(request, server)).text == "Seen."
    picture = {"type": "base64", "media_type": "image/png", "data": PICTURE.base64}
    document = {"type": "base64", "media_type": "application/pdf", "data": PDF.base64}
    sent = server.bodies[0]["messages"]
    assert sent[0]["content"][1:] == [
        {"type": "image", "source": picture},
        {"type": "document", "source": document, "title": "doc.pdf"},
    ]
    assert sent[2]["content"][0]["content"] == [
        {"type": "text", "text": "Read."},
        {"type": "image", "source": picture},
        {"type": "document", "source": document},
    ]
    assert server.requests[0].headers["anthropic-beta"].startswith("pdfs-2024-09-25,structured")


def test_a_text_file_is_sent_as_text() -> None:
    file = m.File("text/plain", "data:text/plain;base64,SGVsbG8=", "a.txt")
    model = claude(capabilities=Capabilities(input=frozenset({"text"})))
    block = encoded(a_request(model, m.UserMessage((file,))))["messages"][0]["content"][0]
    assert block["source"] == {"type": "text", "media_type": "text/plain", "data": "Hello"}


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("pause_turn", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("something_new", FinishReason.UNKNOWN),
    ],
)
async def test_it_tells_why_the_model_stopped(
    server: MessagesServer, stop: str, reason: FinishReason
) -> None:
    server.answer(text("Half"), stop=stop)
    assert (await ask(a_request(claude(), "Hi"), server)).finished.reason is reason


@pytest.mark.parametrize(
    ("kind", "leaf"), [("overloaded_error", ServerError), ("rate_limit_error", RateLimited)]
)
async def test_an_error_in_the_stream_fails(
    server: MessagesServer, kind: str, leaf: type[Exception]
) -> None:
    start = frames_of((), stop="x")[:1]
    server.raw(*start, {"type": "error", "error": {"type": kind, "message": "Overloaded"}})
    said = await ask(a_request(claude(), "Hi"), server)
    assert type(said.failed.error) is leaf
    assert not said.failed.is_free


async def test_an_answer_cut_in_the_middle_fails(server: MessagesServer) -> None:
    server.raw(*frames_of((text("Half"), call("t1")), stop="tool_use")[:6])
    assert isinstance((await ask(a_request(claude(), "Hi"), server)).failed.error, NetworkError)


frames = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "index", "delta", "content_block", "usage", "message", "text"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
kinds = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop",
     "message_delta", "message_stop", "thinking_delta"]
)  # fmt: skip


@given(st.lists(st.tuples(kinds, frames, frames, frames), max_size=6))
async def test_odd_frames_end_in_one_end(odd: list[Any]) -> None:
    server = MessagesServer()
    server.raw(
        *({"type": k, "index": a, "delta": b, "content_block": b, "usage": c} for k, a, b, c in odd)
    )
    assert (await ask(a_request(claude(), "Hi"), server)).end is not None


blocks = st.lists(
    st.one_of(
        st.builds(thinking, st.text(max_size=9), st.text("abc", min_size=1, max_size=9)),
        st.builds(redacted, st.text("abc", min_size=1, max_size=9)),
        st.builds(text, st.text("ab \n", max_size=9).map(lambda words: words + ".")),
        st.builds(call, st.uuids().map(str), filePath=st.text(max_size=9)),
    ),
    max_size=6,
)


@given(blocks)
async def test_what_is_read_and_sent_back_is_the_same(said: list[Any]) -> None:
    said = [*said, call("last")]
    server = MessagesServer()
    server.answer(*said, stop="tool_use")
    server.answer(text("Done."))
    request = a_request(wanting(cacheControl=False), "Go")
    first = await ask(request, server)
    request = after(request, first, *(result(one, "ok") for one in first.calls))
    assert (await ask(request, server)).text == "Done."
    assert server.bodies[1]["messages"][1]["content"] == said
    assert json.dumps(encoded(request)) == json.dumps(encoded(request))


def test_thinking_raises_the_limit_and_takes_the_temperature_away() -> None:
    model = wanting(thinking={"type": "enabled", "budgetTokens": 16_000}, effort="high")
    body = encoded(a_request(model, "Hi", temperature=0.5, top_p=0.5, top_k=5))
    assert body["max_tokens"] == 48_000
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 16_000}
    assert body["output_config"] == {"effort": "high"}
    assert not {"temperature", "top_p", "top_k"} & set(body)


@pytest.mark.parametrize(
    ("most", "budget", "limit", "sent"),
    [(64_000, 60_000, 64_000, 60_000), (16_000, 31_999, 16_000, 15_999), (1_000, 9_000, 1_000, 0)],
)
def test_a_budget_leaves_something_for_the_answer(
    most: int, budget: int, limit: int, sent: int
) -> None:
    options = {"thinking": {"type": "enabled", "budgetTokens": budget}}
    body = encoded(a_request(claude(options=options, limit=Limit(200_000, most)), "Hi"))
    assert body["max_tokens"] == limit
    assert body.get("thinking", {}).get("budget_tokens", 0) == sent


@pytest.mark.parametrize(
    ("model_id", "kind", "choice"),
    [
        ("claude-sonnet-4-5", "enabled", "auto"),
        ("claude-opus-4-6", "adaptive", "auto"),
        ("claude-sonnet-5", "adaptive", "any"),
        ("claude-sonnet-5", "disabled", "any"),
    ],
)
def test_a_model_that_thinks_is_asked_for_a_call_where_it_takes_no_demand(
    model_id: str, kind: str, choice: str
) -> None:
    options = {"thinking": {"type": kind, "budgetTokens": 2_000}}
    body = encoded(a_request(claude(model_id, options=options), "Hi", tool_choice="required"))
    assert body["tool_choice"] == {"type": choice}
    assert body["thinking"]["type"] == kind


def test_the_temperature_goes_before_top_p() -> None:
    body = encoded(a_request(claude(), "Hi", temperature=1.5, top_p=0.7))
    assert (body["temperature"], "top_p" in body) == (1.0, False)
    assert encoded(a_request(claude(), "Hi", top_p=0.7))["top_p"] == 0.7
    late = encoded(a_request(claude("claude-opus-4-7"), "Hi", temperature=1, top_p=0.7, top_k=2))
    assert not {"temperature", "top_p", "top_k"} & set(late)


def test_options_have_the_names_of_the_wire_and_others_are_dropped() -> None:
    model = wanting(
        metadata={"userId": "u"},
        serviceTier="auto",
        speed="fast",
        disableParallelToolUse=True,
        toolStreaming=False,
        anthropicBeta=["mine"],
        custom_option="v1",
        reasoningEffort="high",
    )
    request = a_request(replace(model, headers={"Anthropic-Beta": "context-1m, mine"}), "Hi")
    body = encoded(request)
    assert body["metadata"] == {"user_id": "u"}
    assert (body["service_tier"], body["speed"]) == ("auto", "fast")
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "eager_input_streaming" not in body["tools"][0]
    assert not {"custom_option", "reasoningEffort", "reasoning_effort"} & set(body)
    betas = Messages(Dialect(betas=("own",))).headers(request, body)["anthropic-beta"]
    assert betas == "structured-outputs-2025-11-13,fast-mode-2026-02-01,own,mine,context-1m"


@pytest.mark.parametrize(
    ("option", "mark"), [({"type": "ephemeral", "ttl": "1h"}, True), (False, False)]
)
def test_the_settings_change_the_cache_marks(option: Any, mark: bool) -> None:
    body = encoded(a_request(wanting(cacheControl=option), "Hi"))
    found = [body["system"][0], body["messages"][0]["content"][0]]
    wanted = option if mark else None
    assert [block.get("cache_control") for block in found] == [wanted, wanted]


def test_user_messages_are_joined_and_each_is_marked() -> None:
    body = encoded(a_request(claude(), "Hi", "there", m.SystemMessage("New rule")))
    assert [message["role"] for message in body["messages"]] == ["user"]
    content = body["messages"][0]["content"]
    assert [block.get("cache_control") for block in content] == [MARK, None, MARK]
    assert "New rule" in content[2]["text"]


async def test_a_history_with_calls_has_a_tool(server: MessagesServer) -> None:
    used = m.ToolCall("call|1", "read", {})
    said = m.AssistantMessage((used,))
    server.answer(text("A summary."))
    request = a_request(claude(), "Hi", said, result(used, ""), "Sum up", tools=())
    assert (await ask(request, server)).text == "A summary."
    body = server.bodies[0]
    assert body["tool_choice"] == {"type": "none"}
    assert body["messages"][1]["content"][0]["id"] == "call_1"


async def test_arguments_that_come_with_the_start_of_a_call_count(server: MessagesServer) -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": call("t1", filePath="a")}
    stop = {"type": "content_block_stop", "index": 0}
    server.raw(start, stop, {"type": "message_stop"})
    said = await ask(a_request(claude(), "Hi", tools=(READ,)), server)
    assert said.calls[0].arguments == {"filePath": "a"}
    assert said.finished.reason is FinishReason.TOOL_CALLS


async def test_what_is_kept_for_an_hour_and_the_speed_are_told(server: MessagesServer) -> None:
    created = {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 15}
    usage = {"cache_creation_input_tokens": 20, "cache_creation": created, "speed": "fast"}
    server.answer(text("Hello."), usage={**usage, "service_tier": "priority"})
    said = await ask(a_request(claude(), "Hi"), server)
    assert said.finished.usage.cache_write_tokens == 20
    assert said.finished.usage.cache_write_hour_tokens == 15
    assert said.finished.tier == "fast"
