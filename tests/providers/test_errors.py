from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.outbound import NoAnswer
from providers.llm.classify import Answer, classify
from providers.llm.errors import (
    AuthError,
    BadRequest,
    ContentFiltered,
    NetworkError,
    OverflowError_,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    UnknownModel,
)
from providers.llm.framing import StreamError
from providers.llm.overflow import PATTERNS, is_overflow
from providers.llm.retry import MAX_TRIES, delay_s, is_retryable, parse_retry_after
from providers.llm.secret import Secret
from providers.wire_errors import error_to_wire

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def error_of(status: int, body: object = "", **headers: str) -> ProviderError:
    text = body if isinstance(body, str) else json.dumps(body)
    return classify(None, answer=Answer(status, headers, text), secrets=(), now=NOW)


def openai_body(message: str, **fields: str) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


def test_an_answer_becomes_one_leaf(subtests: pytest.Subtests) -> None:
    cases = [
        (401, openai_body("Bad key", code="invalid_api_key"), AuthError),
        (403, {"detail": "no"}, AuthError),
        (403, openai_body("No access", code="model_not_found"), UnknownModel),
        (401, openai_body("No access", code="model_not_found"), UnknownModel),
        (403, openai_body("You don't have access to this model."), UnknownModel),
        (402, "", QuotaExceeded),
        (429, openai_body("You exceeded your quota", code="insufficient_quota"), QuotaExceeded),
        (429, openai_body("Rate limit reached: too many tokens per minute"), RateLimited),
        (400, openai_body("Unknown parameter"), BadRequest),
        (404, openai_body("No such model", code="model_not_found"), UnknownModel),
        (404, "", UnknownModel),
        (400, openai_body("No such model", code="model_not_found"), UnknownModel),
        (400, openai_body("Rate limit exceeded, slow down"), RateLimited),
        (400, openai_body("x", type="rate_limit_error"), RateLimited),
        (400, openai_body("Request timeout must be positive"), BadRequest),
        (400, openai_body("x", code="y", type="context_length_exceeded"), OverflowError_),
        (400, openai_body("Blocked", code="content_filter"), ContentFiltered),
        (413, "", OverflowError_),
        (400, openai_body("too long", code="context_length_exceeded"), OverflowError_),
        (400, {"type": "error", "error": {"type": "invalid_request_error",
               "message": "prompt is too long: 210000 tokens > 200000 maximum"}}, OverflowError_),
        (400, openai_body("Overloaded", type="overloaded_error"), ServerError),
        (500, "<html><body>oops</body></html>", ServerError),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
         ServerError),
        (503, "", ServerError),
        (500, openai_body("x", type="invalid_request_error"), ServerError),
        (403, openai_body("Provider returned error"), ServerError),
        (404, openai_body("Provider returned error"), ServerError),
        (408, "", NetworkError),
    ]  # fmt: skip
    for status, body, leaf in cases:
        with subtests.test(status=status, body=body):
            error = error_of(status, body)
            assert type(error) is leaf
            assert error.status_code == status


def test_a_broken_connection_becomes_one_leaf(subtests: pytest.Subtests) -> None:
    cases = [
        (httpx.ReadTimeout("x"), NetworkError),
        (httpx.ConnectError("x"), NetworkError),
        (httpx.RemoteProtocolError("peer closed"), NetworkError),
        (StreamError({"message": "The server is overloaded"}), ServerError),
        (StreamError({"message": "socket hang up"}), ServerError),
        (StreamError({"message": "getaddrinfo EAI_AGAIN api.example.com"}), ServerError),
        (StreamError({"message": "upstream said 503"}), ServerError),
        (StreamError({"message": "nobody knows"}), ProviderError),
    ]
    for exc, leaf in cases:
        with subtests.test(exc=exc, leaf=leaf):
            error = classify(exc, answer=Answer(200), secrets=(), now=NOW)
            assert type(error) is leaf


def test_the_cause_beneath_a_wrapper_decides() -> None:
    wrapper = RuntimeError("litellm says something")
    wrapper.__context__ = httpx.RemoteProtocolError("incomplete chunked read")
    error = classify(wrapper, answer=Answer(200), secrets=(), now=NOW)
    assert type(error) is NetworkError


@pytest.mark.parametrize("cause", [RefusedAddress("closed"), OSError("refused"), TimeoutError()])
def test_why_there_is_no_answer_is_not_told(cause: Exception) -> None:
    failed = NoAnswer("x")
    failed.__cause__ = cause
    error = classify(failed, answer=Answer(), secrets=(), now=NOW)
    assert type(error) is NetworkError
    assert error.cause == str(cause)
    assert error.message == (
        "The provider cannot be reached: its name cannot be found, it does not answer, or it is "
        "not allowed. Check the spelling of its address; an operator has to allow a private one."
    )
    assert error.response_body == ""


def test_an_error_event_of_a_stream_is_read_from_its_body() -> None:
    exc = StreamError({"message": "quota", "code": "insufficient_quota"})
    assert type(classify(exc, answer=Answer(200), secrets=(), now=NOW)) is QuotaExceeded


def test_the_message_is_the_providers_own_sentence(subtests: pytest.Subtests) -> None:
    cases = [
        (400, openai_body("Unknown parameter: x"), "Unknown parameter: x"),
        (400, {"detail": "Bad thing"}, "Bad thing"),
        (400, {"error": "Bad thing"}, "Bad thing"),
        (400, [{"error": {"message": "Bad thing"}}], "Bad thing"),
        (502, "<html>gateway</html>", "The provider answered 502 Bad Gateway."),
        (529, "", "The provider answered 529."),
    ]
    for status, body, message in cases:
        with subtests.test(body=body):
            assert error_of(status, body).message == message


def test_no_key_survives_in_an_error() -> None:
    key = Secret("acme-key-12345678")
    body = json.dumps(openai_body("Wrong key acme-key-12345678 or sk-live-abcdefgh1234"))
    error = classify(None, answer=Answer(401, {}, body), secrets=(key,), now=NOW)
    for text in (
        error.message,
        error.response_body,
        repr(error),
        str(error),
        str(error_to_wire(error, provider_id="x")),
    ):
        assert "12345678" not in text
        assert "abcdefgh1234" not in text
    assert "Wrong key •••" in error.message


def test_what_looks_like_a_key_is_masked_whoever_sent_it(subtests: pytest.Subtests) -> None:
    cases = [
        "AIzaSyA1234567890abcdefghijklmnop",
        "ghp_abcdefghijklmnop1234",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "sk-proj-********wxyz1234",
    ]
    for key in cases:
        with subtests.test(key=key):
            error = error_of(400, openai_body(f"Wrong: {key}!"))
            assert key[-6:] not in error.message
            assert key[-6:] not in error.response_body


LEAVES = [
    AuthError, BadRequest, ContentFiltered, NetworkError, OverflowError_, QuotaExceeded,
    RateLimited, ServerError, UnknownModel,
]  # fmt: skip


def test_every_error_says_what_a_person_can_do(subtests: pytest.Subtests) -> None:
    for leaf in LEAVES:
        with subtests.test(leaf=leaf):
            error = leaf("It failed")
            assert leaf.advice is not None
            assert error.told == leaf.advice.sentence.format(said="It failed.")
            data = error_to_wire(error, provider_id="x")["data"]
            assert data["message"] == error.told
            assert (data["reason"], data["values"]) == (leaf.advice, {"said": "It failed."})


def test_a_web_page_in_place_of_a_refusal_points_at_the_gateway() -> None:
    assert "gateway or proxy" in error_of(403, "<html>Forbidden</html>").message
    assert "gateway" not in error_of(403, {"detail": "no"}).message


def test_errors_have_the_wire_shapes_that_clients_know() -> None:
    assert error_to_wire(error_of(401, openai_body("No")), provider_id="openai") == {
        "name": "ProviderAuthError",
        "data": {
            "providerID": "openai",
            "message": f"The provider says: “No” {AuthError('').told}",
            "reason": "key_refused",
            "values": {"said": {"reason": "provider_said", "values": {"said": "No"}}},
        },
    }
    assert error_to_wire(error_of(413), provider_id="x")["name"] == "ContextOverflowError"
    waiting = error_of(429, openai_body("Slow down"))
    limited = error_to_wire(waiting, provider_id="x", advise=False)
    told = error_to_wire(waiting, provider_id="x")["data"]["message"]
    assert told.startswith("The provider says: “Slow down” The provider")
    assert limited["name"] == "APIError"
    assert limited["data"] == {
        "message": "Slow down",
        "isRetryable": True,
        "statusCode": 429,
        "responseBody": '{"error": {"message": "Slow down"}}',
    }


def test_wordings_of_overflow_are_known(subtests: pytest.Subtests) -> None:
    cases = [
        "prompt is too long: 200001 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
        "Your input exceeds the context window of this model",
        "This model's maximum context length is 8192 tokens. However, you requested 9000",
        "The input token count (2000000) exceeds the maximum number of tokens allowed",
        "This model's maximum prompt length is 131072 but the request contains 150000",
        "Please reduce the length of the messages or completion.",
        "the request exceeds the available context size (4096 tokens)",
        "tokens to keep from the initial prompt is greater than the context length",
        "prompt too long; exceeded max context length by 5 tokens",
        "413 status code (no body)",
        "Request entity too large",
    ]
    for text in cases:
        with subtests.test(text=text):
            assert is_overflow(status_code=400, codes=[], text=text)


@pytest.mark.parametrize(
    "text",
    [
        "Rate limit reached for tokens per minute: too many tokens",
        "Throttling error: Too many tokens, please wait",
        "Too many requests",
        "Invalid schema for function 'read'",
    ],
)
def test_other_wordings_are_no_overflow(text: str) -> None:
    assert not is_overflow(status_code=429, codes=[], text=text)


def test_every_overflow_pattern_names_who_says_it() -> None:
    assert all(source for _, source in PATTERNS)


def test_it_reads_how_long_to_wait(subtests: pytest.Subtests) -> None:
    cases = [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ]
    for headers, seconds in cases:
        with subtests.test(headers=headers):
            assert parse_retry_after(headers, now=NOW) == seconds


def test_the_wait_doubles_up_to_thirty_seconds() -> None:
    assert [delay_s(attempt) for attempt in range(1, 7)] == [2, 4, 8, 16, 30, 30]


def test_the_wait_is_spread_by_up_to_a_quarter() -> None:
    assert delay_s(1, jitter=1) == 2.5
    assert delay_s(2, jitter=0.5) == 4.5
    assert delay_s(5, jitter=1) == 30
    assert delay_s(1, error=error_of(429, **{"retry-after": "42"}), jitter=1) == 42


def test_the_providers_own_wait_wins() -> None:
    limited = error_of(429, **{"retry-after": "42"})
    assert delay_s(1, error=limited) == 42
    assert delay_s(3, error=ServerError("x")) == 8


def test_only_what_may_pass_is_tried_again(subtests: pytest.Subtests) -> None:
    cases = [
        (ServerError("x"), 1, True),
        (ServerError("x"), MAX_TRIES - 1, True),
        (ServerError("x"), MAX_TRIES, False),
        (NetworkError("x"), 1, True),
        (RateLimited("x", retry_after_s=60), 1, True),
        (AuthError("x"), 1, False),
        (OverflowError_("x"), 1, False),
        (QuotaExceeded("x"), 1, False),
        (BadRequest("x"), 1, False),
    ]
    for error, attempt, again in cases:
        with subtests.test(error=error, attempt=attempt):
            assert is_retryable(error, attempt=attempt) is again
