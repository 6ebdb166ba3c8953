from __future__ import annotations

import logging
from typing import Any

import pytest

from providers.kinds import ProviderKind
from providers.llm.errors import (
    AuthError,
    BadRequest,
    OverflowError_,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    UnknownModel,
)
from providers.llm.events import Failed
from providers.wire_errors import error_to_wire
from tests.providers.requests import KEY, collect, end_of, make_model, make_request, text_of
from tests.providers.servers import AnthropicServer, OpenAIServer, Reply, ResponsesServer

EVERY_WIRE = pytest.mark.parametrize(
    ("kind", "server_class"),
    [
        (ProviderKind.OPENAI, ResponsesServer),
        (ProviderKind.COMPATIBLE, OpenAIServer),
        (ProviderKind.ANTHROPIC, AnthropicServer),
    ],
    ids=["openai", "openai-compatible", "anthropic"],
)


def body(message: str, **fields: str) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


async def fail(kind: ProviderKind, server_class: Any, reply: Reply) -> ProviderError:
    with server_class([reply]) as server:
        events = await collect(make_request(make_model(kind, base_url=server.base_url)))
        assert len(server.requests) == 1, "the stream must leave retries to its caller"
    end = end_of(events)
    assert isinstance(end, Failed)
    return end.error


@EVERY_WIRE
@pytest.mark.parametrize(
    ("status", "error", "leaf", "retryable"),
    [
        (401, body("Invalid key"), AuthError, False),
        (404, body("No such model"), UnknownModel, False),
        (500, body("Internal error"), ServerError, True),
        (529, body("Overloaded", type="overloaded_error"), ServerError, True),
        (400, body("prompt is too long: 3 tokens > 2 maximum"), OverflowError_, False),
        (413, "<html>too large</html>", OverflowError_, False),
    ],
)
async def test_a_status_becomes_its_leaf(
    kind: ProviderKind,
    server_class: Any,
    status: int,
    error: Any,
    leaf: type[ProviderError],
    retryable: bool,
) -> None:
    failed = await fail(kind, server_class, Reply(status=status, error=error))
    assert type(failed) is leaf
    assert failed.retryable is retryable
    assert failed.status_code == status


@EVERY_WIRE
async def test_a_rate_limit_says_how_long_to_wait(kind: ProviderKind, server_class: Any) -> None:
    reply = Reply(status=429, error=body("Slow down"), headers={"retry-after": "17"})
    failed = await fail(kind, server_class, reply)
    assert isinstance(failed, RateLimited)
    assert failed.retry_after_s == 17
    assert failed.message == "Slow down"


@EVERY_WIRE
async def test_a_redirect_is_not_followed(kind: ProviderKind, server_class: Any) -> None:
    reply = Reply(status=307, error="", headers={"location": "/elsewhere"})
    failed = await fail(kind, server_class, reply)
    assert type(failed) is BadRequest
    assert failed.message == "The provider answered 307 Temporary Redirect."


async def test_an_error_event_fails_after_its_text(subtests: pytest.Subtests) -> None:
    cases = [
        ({"message": "no more", "code": "insufficient_quota"}, QuotaExceeded),
        ({"message": "busy", "code": "server_is_overloaded"}, ServerError),
        ({"message": "x", "code": "context_length_exceeded"}, OverflowError_),
    ]
    for error, leaf in cases:
        for kind, server_class in [
            (ProviderKind.OPENAI, ResponsesServer),
            (ProviderKind.COMPATIBLE, OpenAIServer),
        ]:
            with subtests.test(kind=kind, error=error):
                with server_class([Reply(text="Half an", stream_error=error)]) as server:
                    model = make_model(kind, base_url=server.base_url)
                    events = await collect(make_request(model))
                assert text_of(events) == "Half an"
                assert isinstance(end := end_of(events), Failed)
                assert type(end.error) is leaf


async def test_an_overload_in_an_anthropic_stream_may_be_tried_again() -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    with AnthropicServer([Reply(text="Half an", stream_error=error)]) as server:
        model = make_model(ProviderKind.ANTHROPIC, base_url=server.base_url)
        events = await collect(make_request(model))
    assert isinstance(end := end_of(events), Failed)
    assert end.error.retryable
    assert end.error.message == "Overloaded"


@EVERY_WIRE
async def test_no_key_and_no_prompt_is_in_a_log_an_event_or_an_error(
    kind: ProviderKind,
    server_class: Any,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    replies = [
        Reply(text="fine"),
        Reply(status=401, error=body(f"Incorrect key {KEY}. You sent Bearer {KEY}")),
        Reply(text="half", stream_error={"message": f"broken with {KEY}"}),
        Reply(text="x" * 100, cut_after=4),
    ]
    seen = ""
    with server_class(replies) as server:
        request = make_request(make_model(kind, base_url=server.base_url), "a private prompt")
        for _ in replies:
            events = await collect(request)
            seen += repr(events)
            if isinstance(end := end_of(events), Failed):
                seen += str(end.error) + end.error.response_body + repr(end.error)
                seen += str(error_to_wire(end.error, provider_id="acme"))
        assert KEY in str(server.requests[0].headers)
    seen += repr(request.model)
    logged = "\n".join(f"{record.getMessage()} {record.exc_text}" for record in caplog.records)
    printed = "".join(capsys.readouterr())
    assert "provider call ended: session=ses_1" in logged
    for text in (seen, logged, printed):
        assert KEY not in text
    for text in (logged, printed):
        assert "a private prompt" not in text
