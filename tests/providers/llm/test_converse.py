from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm import messages as m
from providers.llm.adapters.bedrock import profile_of
from providers.llm.errors import BadRequest, NetworkError, ProviderError, RateLimited, ServerError
from providers.llm.events import FinishReason
from providers.llm.protocols.converse import Converse
from providers.llm.protocols.converse_answer import ConverseDecoder
from providers.llm.secret import Secret
from tests.providers.llm.exchange import PDF, PICTURE, a_model, a_request, after, ask, result
from tests.providers.llm.servers_converse import (
    KEY,
    KEY_ID,
    TOKEN,
    ConverseServer,
    call,
    frame,
    frames_of,
    redacted,
    text,
    thinking,
)

CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "amazon.nova-2-lite-v1:0"
POINT = {"cachePoint": {"type": "default"}}


def bedrock(model_id: str = CLAUDE, **fields: Any) -> m.ResolvedModel:
    known: dict[str, Any] = {
        "api_key": Secret(""),
        "connection": {"region": "us-east-1"},
        "secrets": {"accessKeyId": Secret(KEY_ID), "secretAccessKey": Secret(KEY)},
    }
    return a_model("@ai-sdk/amazon-bedrock", model_id, "amazon-bedrock", **{**known, **fields})


def encoded(request: m.ProviderRequest) -> Any:
    return Converse().encode(request)


@pytest.fixture
def server() -> ConverseServer:
    return ConverseServer()


async def test_it_says_a_text_over_a_signed_request(server: ConverseServer) -> None:
    server.answer(text("Hello."), cacheReadInputTokens=100, cacheWriteInputTokens=20)
    said = await ask(a_request(bedrock(), "Hi"), server)
    assert said.text == "Hello."
    assert said.finished.usage == m.Usage(7, 50, 0, 100, 20)
    request = server.requests[0]
    assert request.url.host == "bedrock-runtime.us-east-1.amazonaws.com"
    assert request.url.raw_path.decode() == (
        "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"
    )
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIADUMMY/")


async def test_a_session_token_is_signed_with_the_rest(server: ConverseServer) -> None:
    server.answer(text("Hello."))
    secrets = {
        "accessKeyId": Secret(KEY_ID),
        "secretAccessKey": Secret(KEY),
        "sessionToken": Secret(TOKEN),
    }
    endpoint = {"endpoint": "https://vpce.test:8443/x", "region": "us-east-1"}
    model = bedrock("arn:aws:bedrock:us-east-1:1:inference-profile/a b", secrets=secrets)
    model = bedrock(model.api_model, secrets=secrets, connection=endpoint)
    assert (await ask(a_request(model, "Hi"), server)).text == "Hello."
    request = server.requests[0]
    assert request.headers["x-amz-security-token"] == TOKEN
    assert "x-amz-security-token" in request.headers["authorization"]
    assert str(request.url).startswith("https://vpce.test:8443/x/model/arn%3Aaws%3A")


async def test_an_api_key_goes_before_a_signature(server: ConverseServer) -> None:
    server.answer(text("Hello."))
    await ask(a_request(bedrock(api_key=Secret("bedrock-api-key")), "Hi"), server)
    assert server.requests[0].headers["authorization"] == "Bearer bedrock-api-key"


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"connection": {}}, "region"),
        ({"connection": {"region": "evil.test/"}}, "region"),
        ({"secrets": {}}, "access key"),
        ({"secrets": {"accessKeyId": Secret("a")}}, "secret access key"),
        ({"connection": {"endpoint": "https://x.test"}}, "region"),
    ],
)
async def test_a_missing_setting_is_named(
    server: ConverseServer, fields: dict[str, Any], word: str
) -> None:
    said = await ask(a_request(bedrock(**fields), "Hi"), server)
    assert word in said.failed.error.message
    assert not server.requests


def test_the_group_of_the_region_serves_a_model(subtests: pytest.Subtests) -> None:
    cases = [
        (CLAUDE, "us-west-2", "us."),
        (CLAUDE, "us-gov-west-1", ""),
        (CLAUDE, "eu-central-1", "eu."),
        (CLAUDE, "eu-central-2", ""),
        (CLAUDE, "ap-southeast-2", "au."),
        ("anthropic.claude-opus-4-6", "ap-southeast-2", ""),
        (CLAUDE, "ap-northeast-1", "jp."),
        (CLAUDE, "ap-south-1", "apac."),
        (NOVA, "us-east-1", "us."),
        ("deepseek.r1-v1:0", "us-east-1", "us."),
        ("meta.llama3-8b", "us-east-1", ""),
        ("openai.gpt-oss-120b-1:0", "us-east-1", ""),
        ("global." + CLAUDE, "us-east-1", ""),
        ("arn:aws:bedrock:claude", "us-east-1", ""),
        (CLAUDE, "", ""),
    ]
    for model, region, profile in cases:
        with subtests.test(model=model, region=region):
            assert profile_of(model, region) == profile + model


async def test_thinking_goes_back_as_it_came_with_results(server: ConverseServer) -> None:
    data = base64.b64encode(b"secret").decode()
    thoughts = (thinking("First.", "sig-1"), redacted(data))
    used = (call("t1", filePath="a"), call("t2", filePath="b"))
    server.answer(*thoughts, text("Reading."), *used, stop="tool_use")
    server.answer(text("Done."))
    request = a_request(bedrock(), "Read both")
    said = await ask(request, server)
    assert said.finished.reason is FinishReason.TOOL_CALLS
    one, two = said.calls
    request = after(request, said, result(one, "alpha"), result(two, "", is_error=True))
    assert (await ask(request, server)).text == "Done."
    assistant, results = (message["content"] for message in server.bodies[1]["messages"][1:])
    assert assistant == [*thoughts, text("Reading."), *used, POINT]
    failed = {"toolUseId": "t2", "content": [{"text": "(no output)"}], "status": "error"}
    assert results[1]["toolResult"] == failed
    assert results[2] == POINT


@pytest.mark.parametrize("metadata", [None, {"anthropic": {"signature": "x"}}, {"bedrock": {}}])
def test_thinking_that_the_vendor_did_not_sign_is_left_out(metadata: Any) -> None:
    said = m.AssistantMessage((m.Reasoning("Hm.", metadata), m.Text("Yes.")))
    body = encoded(a_request(bedrock(NOVA), "Hi", said, "Sure?"))
    assert body["messages"][1]["content"] == [{"text": "Yes."}]


async def test_a_changed_signature_is_refused_by_the_server(server: ConverseServer) -> None:
    server.answer(thinking("First.", "sig-1"), text("Yes."))
    request = a_request(bedrock(), "Hi")
    said = await ask(request, server)
    said.parts[0] = m.Reasoning("First.", {"bedrock": {"signature": "sig-other"}})
    said = await ask(after(request, said, m.UserMessage((m.Text("And?"),))), server)
    assert isinstance(said.failed.error, BadRequest)


async def test_pictures_and_documents_go_where_the_wire_has_them(server: ConverseServer) -> None:
    user = m.UserMessage((PICTURE, PDF, PDF))
    one, two = m.ToolCall("a.1", "read", {}), m.ToolCall("b" * 70, "read", {})
    files = result(one, "Read.", files=(PICTURE, PDF))
    server.answer(text("Seen."))
    said = m.AssistantMessage((one, two))
    request = a_request(bedrock(), user, said, files, result(two, "Read."))
    assert (await ask(request, server)).text == "Seen."
    picture = {"image": {"format": "png", "source": {"bytes": PICTURE.base64}}}
    document = {"format": "pdf", "name": "doc", "source": {"bytes": PDF.base64}}
    first, _, last = (message["content"] for message in server.bodies[0]["messages"])
    assert first[1:] == [
        picture,
        {"document": document},
        {"document": {**document, "name": "doc (2)"}},
    ]
    assert last[0]["toolResult"] == {"toolUseId": "a_1", "content": [{"text": "Read."}, picture]}
    assert last[2:] == [
        POINT,
        {"text": "Attached media from tool result:"},
        {"document": {**document, "name": "document-1"}},
        POINT,
    ]


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("guardrail_intervened", FinishReason.CONTENT_FILTER),
        ("content_filtered", FinishReason.CONTENT_FILTER),
        ("something_new", FinishReason.UNKNOWN),
    ],
)
async def test_it_tells_why_the_model_stopped(
    server: ConverseServer, stop: str, reason: FinishReason
) -> None:
    server.answer(text("Half"), stop=stop)
    assert (await ask(a_request(bedrock(), "Hi"), server)).finished.reason is reason


@pytest.mark.parametrize(
    ("kind", "leaf"),
    [
        ("throttlingException", RateLimited),
        ("ModelStreamErrorException", ServerError),
        ("serviceUnavailableException", ServerError),
        ("validationException", BadRequest),
        ("strangeException", ProviderError),
    ],
)
async def test_an_exception_in_the_stream_fails(
    server: ConverseServer, kind: str, leaf: type[ProviderError]
) -> None:
    start = frame("messageStart", {"role": "assistant"})
    server.raw(start, frame(kind, {"message": "It did not work."}, "exception"))
    error = (await ask(a_request(bedrock(), "Hi"), server)).failed.error
    assert type(error) is leaf
    assert error.message == "It did not work."


async def test_an_answer_cut_in_the_middle_fails(server: ConverseServer) -> None:
    server.raw(*frames_of((text("Half"), call("t1")), stop="tool_use")[:5], b"\x00\x00\x01")
    assert isinstance((await ask(a_request(bedrock(), "Hi"), server)).failed.error, NetworkError)


async def test_a_malformed_answer_is_asked_for_again(server: ConverseServer) -> None:
    server.answer(text("Half"), stop="malformed_tool_use")
    assert (await ask(a_request(bedrock(), "Hi"), server)).failed.error.retryable


@pytest.mark.parametrize(
    "junk", [b"x" * 40, frame("messageStop", b"{"), frame("messageStop", b"[]")]
)
async def test_junk_on_the_wire_fails(server: ConverseServer, junk: bytes) -> None:
    server.raw(junk)
    assert (await ask(a_request(bedrock(), "Hi"), server)).failed.error.message


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["contentBlockIndex", "delta", "start", "toolUse", "usage", "text",
                         "reasoningContent", "redactedContent", "stopReason"]),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
kinds = st.sampled_from(
    ["contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", "x"]
)


@given(st.lists(st.dictionaries(kinds, values, max_size=2), max_size=6))
def test_odd_frames_do_not_crash(odd: list[Any]) -> None:
    decoder = ConverseDecoder()
    for one in odd:
        list(decoder.feed(one))
    assert len(list(decoder.end())) >= 1


blocks = st.lists(
    st.one_of(
        st.builds(thinking, st.text(min_size=1, max_size=9), st.text("ab", min_size=1, max_size=9)),
        st.builds(redacted, st.binary(min_size=1).map(lambda raw: base64.b64encode(raw).decode())),
        st.builds(text, st.text("ab \n", max_size=9).map(lambda words: words + ".")),
        st.builds(call, st.uuids().map(str), filePath=st.text(max_size=9)),
    ),
    max_size=6,
)


@given(blocks)
async def test_what_is_read_and_sent_back_is_the_same(said: list[Any]) -> None:
    said = [*said, call("last")]
    server = ConverseServer()
    server.answer(*said, stop="tool_use")
    server.answer(text("Done."))
    request = a_request(bedrock(options={"cacheControl": False}), "Go")
    first = await ask(request, server)
    request = after(request, first, *(result(one, "ok") for one in first.calls))
    assert (await ask(request, server)).text == "Done."
    assert server.bodies[1]["messages"][1]["content"] == said
    assert json.dumps(encoded(request)) == json.dumps(encoded(request))


def test_redacted_thinking_in_pieces_is_put_together() -> None:
    decoder = ConverseDecoder()
    pieces = [base64.b64encode(raw).decode() for raw in (b"a", b"bc")]
    for piece in pieces:
        delta: Any = {"contentBlockIndex": 0, "delta": redacted(piece)}
        assert not list(decoder.feed({"contentBlockDelta": delta}))
    events = list(decoder.feed({"contentBlockStop": {"contentBlockIndex": 0}}))
    data = base64.b64encode(b"abc").decode()
    assert getattr(events[-1], "metadata", None) == {"bedrock": {"redactedData": data}}


def test_claude_thinks_in_its_own_fields() -> None:
    for options in (
        {"thinking": {"type": "enabled", "budgetTokens": 16_000}, "effort": "high"},
        {
            "reasoningConfig": {
                "type": "enabled",
                "budgetTokens": 16_000,
                "maxReasoningEffort": "high",
            }
        },
    ):
        body = encoded(a_request(bedrock(options=options), "Hi", temperature=0.5, top_p=0.5))
        assert body["inferenceConfig"] == {"maxTokens": 48_000}
        assert body["additionalModelRequestFields"] == {
            "thinking": {"type": "enabled", "budget_tokens": 16_000},
            "output_config": {"effort": "high"},
        }


def test_nova_thinks_in_its_own_fields_and_has_no_marks() -> None:
    config: Any = {"type": "enabled", "maxReasoningEffort": "low"}
    body = encoded(a_request(bedrock(NOVA, options={"reasoningConfig": config}), "Hi", top_p=0.5))
    assert body["additionalModelRequestFields"] == {"reasoningConfig": config}
    assert body["inferenceConfig"] == {"maxTokens": 32_000, "topP": 0.5}
    assert "additionalModelResponseFieldPaths" not in body
    assert "cachePoint" not in json.dumps(body)
    hard = {"reasoningConfig": {**config, "maxReasoningEffort": "high"}}
    body = encoded(a_request(bedrock(NOVA, options=hard), "Hi", top_p=0.5))
    assert body["inferenceConfig"] == {"maxTokens": 32_000}


def test_other_options_reach_the_body_but_none_that_the_request_says() -> None:
    options = {
        "custom_option": "v1",
        "serviceTier": "flex",
        "anthropicBeta": ["b"],
        "inferenceConfig": {"maxTokens": 1_000_000},
        "toolConfig": {},
        "cacheControl": {"type": "ephemeral", "ttl": "1h"},
    }
    body = encoded(a_request(bedrock(options=options), "Hi", temperature=0.3, top_p=0.7, top_k=5))
    assert body["custom_option"] == "v1"
    assert body["serviceTier"] == {"type": "flex"}
    assert body["additionalModelRequestFields"] == {"anthropic_beta": ["b"], "top_k": 5}
    assert body["inferenceConfig"] == {"maxTokens": 32_000, "temperature": 0.3}
    assert body["toolConfig"]["toolChoice"] == {"auto": {}}
    assert body["system"][1] == {"cachePoint": {"type": "default", "ttl": "1h"}}


def test_a_call_is_demanded_or_no_tool_offered() -> None:
    demanded = encoded(a_request(bedrock(), "Hi", tool_choice="required"))
    assert demanded["toolConfig"]["toolChoice"] == {"any": {}}
    assert "toolConfig" not in encoded(a_request(bedrock(), "Hi", tool_choice="none"))


async def test_a_history_with_calls_has_a_tool(server: ConverseServer) -> None:
    used = m.ToolCall("t1", "read", {})
    server.answer(text("A summary."))
    said = m.AssistantMessage((used,))
    request = a_request(bedrock(), "Hi", said, result(used, "x"), "Sum up", tools=())
    assert (await ask(request, server)).text == "A summary."
    assert "toolChoice" not in server.bodies[0]["toolConfig"]


async def test_what_is_kept_for_an_hour_is_told(server: ConverseServer) -> None:
    details = [{"ttl": "5m", "inputTokens": 5}, {"ttl": "1h", "inputTokens": 15}]
    server.answer(text("Hello."), cacheWriteInputTokens=20, cacheDetails=details)
    said = await ask(a_request(bedrock(), "Hi"), server)
    assert said.finished.usage == m.Usage(7, 50, 0, 0, 20, 15)
