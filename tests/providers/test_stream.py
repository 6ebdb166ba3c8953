from __future__ import annotations

import asyncio
import re
from contextlib import aclosing

import pytest

from opencode_web.lib.json import JsonObject
from providers.kinds import ProviderKind
from providers.llm.errors import NetworkError
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.llm.facts import Capabilities
from providers.llm.messages import Usage
from providers.stream import stream
from providers.transport import close_pool
from tests.providers.requests import (
    READ,
    anext_text,
    collect,
    end_of,
    make_model,
    make_request,
    reasoning_of,
    text_of,
)
from tests.providers.servers import AnthropicServer, Call, OpenAIServer, Reply, ResponsesServer

EVERY_WIRE = pytest.mark.parametrize(
    ("kind", "server_class"),
    [
        (ProviderKind.OPENAI, ResponsesServer),
        (ProviderKind.COMPATIBLE, OpenAIServer),
        (ProviderKind.ANTHROPIC, AnthropicServer),
    ],
    ids=["openai", "openai-compatible", "anthropic"],
)
# Anthropic does not say what of an answer was thought.
COUNTS_REASONING = pytest.mark.parametrize(
    ("kind", "server_class"),
    [(ProviderKind.OPENAI, ResponsesServer), (ProviderKind.COMPATIBLE, OpenAIServer)],
    ids=["openai", "openai-compatible"],
)
Server = type[OpenAIServer] | type[ResponsesServer] | type[AnthropicServer]

# What each wire wants back with a thought whose signature is "sig-1".
SIGNED: dict[ProviderKind, JsonObject | None] = {
    ProviderKind.OPENAI: {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "sig-1"}},
    ProviderKind.COMPATIBLE: None,
    ProviderKind.ANTHROPIC: {"anthropic": {"signature": "sig-1"}},
}


@EVERY_WIRE
async def test_it_streams_text_in_pieces(kind: ProviderKind, server_class: Server) -> None:
    with server_class([Reply(text="The quick brown fox — jumps.")]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert text_of(events) == "The quick brown fox — jumps."
    assert sum(isinstance(event, TextDelta) for event in events) == 4
    assert end_of(events) == Finished(FinishReason.STOP, Usage(100, 20))


@EVERY_WIRE
async def test_it_streams_reasoning_before_text(kind: ProviderKind, server_class: Server) -> None:
    reply = Reply(reasoning="Let me think about it.", text="Done.", signature="sig-1")
    with server_class([reply]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert reasoning_of(events) == "Let me think about it."
    assert text_of(events) == "Done."
    ends = [event for event in events if isinstance(event, ReasoningEnd)]
    assert ends == [ReasoningEnd(SIGNED[kind])]
    assert events.index(ends[0]) < next(
        i for i, event in enumerate(events) if isinstance(event, TextDelta)
    )


@EVERY_WIRE
async def test_it_streams_parallel_tool_calls(kind: ProviderKind, server_class: Server) -> None:
    calls = (
        Call("read", {"filePath": "a long name.py"}, id="call_a"),
        Call("read", {"filePath": "b.py"}, id="call_b"),
        Call("read", {}, id="call_c", raw=""),
    )
    with server_class([Reply(text="Reading.", calls=calls)]) as server:
        model = make_model(kind, base_url=server.base_url)
        events = await collect(make_request(model, tools=(READ,)))
    assert [event for event in events if isinstance(event, ToolCallStart)] == [
        ToolCallStart(0, "call_a", "read"),
        ToolCallStart(1, "call_b", "read"),
        ToolCallStart(2, "call_c", "read"),
    ]
    ends = [event for event in events if isinstance(event, ToolCallEnd)]
    assert [end.arguments for end in ends] == [
        {"filePath": "a long name.py"},
        {"filePath": "b.py"},
        {},
    ]
    pieces = [e.text for e in events if isinstance(e, ToolCallDelta) and e.index == 0]
    assert len(pieces) > 1
    assert "".join(pieces) == ends[0].raw
    assert isinstance(end := end_of(events), Finished)
    assert end.reason is FinishReason.TOOL_CALLS


@EVERY_WIRE
async def test_it_keeps_arguments_that_are_no_json(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(calls=(Call("read", raw='{"filePath": '),))]) as server:
        model = make_model(kind, base_url=server.base_url)
        events = await collect(make_request(model, tools=(READ,)))
    [end] = [event for event in events if isinstance(event, ToolCallEnd)]
    assert end.arguments is None
    assert end.raw == '{"filePath": '


@EVERY_WIRE
async def test_it_counts_cached_tokens_once(kind: ProviderKind, server_class: Server) -> None:
    written = 30 if kind is ProviderKind.ANTHROPIC else 0
    reply = Reply(
        text="Hi",
        input_tokens=10,
        output_tokens=7,
        cache_read_tokens=50,
        cache_write_tokens=written,
    )
    with server_class([reply]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert isinstance(end := end_of(events), Finished)
    assert end.usage == Usage(10, 7, 0, cache_read_tokens=50, cache_write_tokens=written)


@COUNTS_REASONING
async def test_a_count_below_zero_is_none(kind: ProviderKind, server_class: Server) -> None:
    reply = Reply(text="Hi", cache_read_tokens=-90, reasoning_tokens=-7)
    with server_class([reply]) as server:
        model = make_model(kind, base_url=server.base_url)
        end = end_of(await collect(make_request(model)))
    assert isinstance(end, Finished)
    assert end.usage == Usage(10, 13)


@COUNTS_REASONING
async def test_it_takes_reasoning_tokens_out_of_the_output(
    kind: ProviderKind, server_class: Server
) -> None:
    reply = Reply(text="Hi", output_tokens=7, reasoning_tokens=40)
    with server_class([reply]) as server:
        model = make_model(kind, base_url=server.base_url)
        events = await collect(make_request(model))
    assert isinstance(end := end_of(events), Finished)
    assert end.usage == Usage(100, 7, 40)


@EVERY_WIRE
async def test_it_says_when_the_answer_hit_its_limit(
    kind: ProviderKind, server_class: Server
) -> None:
    finish = "max_tokens" if kind is ProviderKind.ANTHROPIC else "length"
    with server_class([Reply(text="Hi", finish=finish)]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert isinstance(end := end_of(events), Finished)
    assert end.reason is FinishReason.LENGTH


@EVERY_WIRE
async def test_a_cut_stream_keeps_its_text_and_fails_retryably(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(text="x" * 200, cut_after=9)]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert text_of(events).startswith("x" * 40)
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)
    assert end.error.retryable


@EVERY_WIRE
async def test_an_answer_without_an_end_is_a_cut_stream(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(text="x" * 200, end_after=9)]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)


@EVERY_WIRE
async def test_silence_between_chunks_is_a_network_error(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(text="x" * 80, chunk_delay_s=0.5)]) as server:
        model = make_model(kind, base_url=server.base_url, idle_timeout_s=0.2)
        events = await collect(make_request(model))
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)
    assert end.error.message == "The provider sent nothing for too long."


@EVERY_WIRE
async def test_closing_the_stream_closes_the_connection(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(text="x" * 4_000, chunk_delay_s=0.01)]) as server:
        request = make_request(make_model(kind, base_url=server.base_url))
        async with aclosing(stream(request)) as events:
            assert await anext_text(events)
        assert await asyncio.to_thread(server.disconnected.wait, 2)


@EVERY_WIRE
async def test_cancelling_the_task_closes_the_connection(
    kind: ProviderKind, server_class: Server
) -> None:
    with server_class([Reply(text="x" * 4_000, chunk_delay_s=0.01)]) as server:
        task = asyncio.create_task(
            collect(make_request(make_model(kind, base_url=server.base_url)))
        )
        assert await asyncio.to_thread(server.streaming.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.disconnected.wait, 2)


async def test_nobody_answering_is_a_network_error() -> None:
    with OpenAIServer() as server:
        base_url = server.base_url
    events = await collect(make_request(make_model(ProviderKind.COMPATIBLE, base_url=base_url)))
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)
    assert end.error.retryable
    assert end.is_free


@EVERY_WIRE
@pytest.mark.parametrize("closes", [False, True], ids=["silent", "closing"])
async def test_a_request_that_arrived_and_got_no_answer_may_have_cost_something(
    kind: ProviderKind, server_class: Server, closes: bool
) -> None:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.I)
        assert length
        await reader.readexactly(int(length[1]))
        if not closes:
            await reader.read()
        writer.close()
        await writer.wait_closed()
        ended.set()

    taken: list[asyncio.StreamWriter] = []
    ended = asyncio.Event()
    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        base_url = f"http://127.0.0.1:{port}{server_class.suffix}"
        model = make_model(kind, base_url=base_url, idle_timeout_s=0.3)
        events = await collect(make_request(model))
        await ended.wait()
    assert isinstance(end := end_of(events), Failed)
    assert isinstance(end.error, NetworkError)
    assert not end.is_free
    assert len(taken) == 1, "nobody would know what the second one has cost"


async def test_two_streams_run_at_once() -> None:
    with OpenAIServer([Reply(text="x" * 80, chunk_delay_s=0.01)]) as server:
        model = make_model(ProviderKind.COMPATIBLE, base_url=server.base_url)
        answers = await asyncio.gather(*(collect(make_request(model)) for _ in range(2)))
    assert [text_of(events) for events in answers] == ["x" * 80] * 2


async def test_connections_are_kept_for_the_next_turn() -> None:
    with OpenAIServer([Reply(text="Hi")], keep_alive=True) as server:
        model = make_model(
            ProviderKind.COMPATIBLE, base_url=server.base_url, capabilities=Capabilities()
        )
        for _ in range(2):
            assert text_of(await collect(make_request(model))) == "Hi"
        await close_pool()
