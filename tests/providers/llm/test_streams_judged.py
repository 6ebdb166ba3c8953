from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import botocore.session  # type: ignore[import-untyped]
import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.oracle.vendors import ConverseServer, GeminiServer
from tests.providers.llm import servers_gemini as gemini
from tests.providers.llm import servers_messages as messages
from tests.providers.llm import servers_responses as responses
from tests.providers.replies import Call, Reply
from tests.providers.servers import AnthropicServer, OpenAIServer, ResponsesServer

# The SDKs of Anthropic and Google take a second to import: only the tests of them do.

KEY = "key-0123456789"
THOUGHT = Reply(
    text="I look at both.",
    reasoning="Where would it be?",
    redacted="c2VjcmV0",
    calls=(Call("read", {"path": "a"}, id="call_1"), Call("read", {"path": "b"}, id="call_2")),
    input_tokens=100,
    cache_read_tokens=40,
    output_tokens=20,
    reasoning_tokens=5,
)
ARGUMENTS = [{"path": "a"}, {"path": "b"}]
HELLO: Any = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize("reply", [THOUGHT, Reply(text="Cut sh", finish="length")])
def test_the_sdk_of_openai_reads_the_played_chat(reply: Reply) -> None:
    with (
        OpenAIServer([reply]) as server,
        _openai(server.base_url) as client,
        client.chat.completions.create(model="m", messages=HELLO, stream=True) as stream,
    ):
        chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == reply.text
    pieces = [call for c in chunks if c.choices for call in c.choices[0].delta.tool_calls or ()]
    raw = ["".join(p.function.arguments or "" for p in pieces if p.index == i and p.function)
           for i in range(len(reply.calls))]  # fmt: skip
    assert [json.loads(one) for one in raw] == [call.arguments for call in reply.calls]
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == reply.input_tokens + reply.cache_read_tokens
    assert chunks[-2].choices[0].finish_reason == (reply.finish or "tool_calls")


def test_the_sdk_of_openai_reads_the_played_responses() -> None:
    with (
        ResponsesServer([THOUGHT]) as server,
        _openai(server.base_url) as client,
        client.responses.create(model="m", input="Hello", stream=True) as stream,
    ):
        events = list(stream)
    end = events[-1]
    assert end.type == "response.completed"
    thought, said, *calls = end.response.output
    assert thought.type == "reasoning"
    assert thought.encrypted_content == THOUGHT.signature
    assert end.response.output_text == THOUGHT.text
    assert said.type == "message"
    assert [json.loads(c.arguments) for c in calls if c.type == "function_call"] == ARGUMENTS
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == THOUGHT.text


def test_the_sdk_of_anthropic_reads_the_played_messages() -> None:
    with (
        AnthropicServer([THOUGHT]) as server,
        _anthropic(server) as client,
        client.messages.stream(model="m", messages=HELLO, max_tokens=9) as stream,
    ):
        message = stream.get_final_message()
    thought, hidden, said, *calls = message.content
    assert (thought.type, said.type) == ("thinking", "text")
    assert (thought.thinking, thought.signature) == (THOUGHT.reasoning, THOUGHT.signature)
    assert hidden.type == "redacted_thinking"
    assert hidden.data == THOUGHT.redacted
    assert said.text == THOUGHT.text
    assert [call.input for call in calls if call.type == "tool_use"] == ARGUMENTS
    assert message.stop_reason == "tool_use"
    assert (message.usage.cache_read_input_tokens, message.usage.output_tokens) == (40, 20)


def test_the_sdk_of_google_reads_the_played_gemini() -> None:
    from google import genai

    with GeminiServer([THOUGHT]) as server:
        place = genai.types.HttpOptions(base_url=server.base_url.removesuffix("/v1"))
        with genai.Client(api_key=KEY, http_options=place) as client:
            chunks = list(client.models.generate_content_stream(model="m", contents="Hello"))
    parts = [part for chunk in chunks for part in _parts(chunk)]
    assert "".join(part.text or "" for part in parts if part.thought) == THOUGHT.reasoning
    assert "".join(p.text or "" for p in parts if not p.thought) == THOUGHT.text
    calls = [part.function_call for part in parts if part.function_call]
    assert [call.args for call in calls] == ARGUMENTS
    usage = chunks[-1].usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (140, 40)


def test_botocore_reads_the_played_converse() -> None:
    session = botocore.session.get_session()
    with ConverseServer([THOUGHT]) as server:
        client = session.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=server.base_url.removesuffix("/v1"),
            aws_access_key_id="AKIADUMMY",
            aws_secret_access_key="dummy",
        )
        asked = [{"role": "user", "content": [{"text": "Hello"}]}]
        events = list(client.converse_stream(modelId="m", messages=asked)["stream"])
        client.close()
    deltas = [one["contentBlockDelta"]["delta"] for one in events if "contentBlockDelta" in one]
    assert "".join(delta.get("text", "") for delta in deltas) == THOUGHT.text
    thoughts = [delta["reasoningContent"] for delta in deltas if "reasoningContent" in delta]
    assert [one.get("signature") for one in thoughts][1] == THOUGHT.signature
    raw = "".join(delta["toolUse"]["input"] for delta in deltas if "toolUse" in delta)
    assert raw == "".join(json.dumps(one) for one in ARGUMENTS)
    assert events[-1]["metadata"]["usage"]["cacheReadInputTokens"] == 40


def test_the_sdk_of_anthropic_knows_every_frame_of_the_strict_server() -> None:
    from anthropic.types import RawMessageStreamEvent

    blocks = (
        messages.thinking("Hm.", "sig-1"),
        messages.redacted("red-1"),
        messages.text("I look."),
        messages.call("toolu_1", path="a"),
    )
    frames = TypeAdapter[Any](RawMessageStreamEvent)
    for frame in messages.frames_of(blocks, stop="tool_use"):
        if frame["type"] != "ping":  # what the SDK drops
            frames.validate_python(frame)


def test_the_sdk_of_openai_knows_every_frame_of_the_strict_server() -> None:
    items = (
        responses.reasoning(0, "Hm.", "Well."),
        responses.message(1, "I look."),
        responses.call(2, "read", '{"path": "a"}'),
    )
    frames = TypeAdapter[Any](ResponseStreamEvent)
    for number, frame in enumerate(responses.answer(*items)):
        frames.validate_python({"sequence_number": number, **frame})


def test_the_sdk_of_google_knows_every_chunk_of_the_strict_server() -> None:
    from google.genai import types as google

    call = {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"}
    chunk = gemini.chunk({"text": "Hm.", "thought": True}, call, finish="STOP")
    google.GenerateContentResponse.model_validate(chunk)


def _openai(address: str) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=address, api_key=KEY, max_retries=0, _strict_response_validation=True
    )


def _anthropic(server: Any) -> Any:
    import anthropic

    address = server.base_url.removesuffix("/v1")
    return anthropic.Anthropic(
        base_url=address, api_key=KEY, max_retries=0, _strict_response_validation=True
    )


def _parts(chunk: Any) -> Iterator[Any]:
    for candidate in chunk.candidates or ():
        yield from (candidate.content and candidate.content.parts) or ()
