from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from providers.llm.classify import Answer, classify
from providers.llm.errors import OverflowError_, ProviderError, RateLimited, ServerError
from providers.llm.framing import StreamError

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def refused(status: int, body: Any = "", **headers: str) -> ProviderError:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify(None, answer=Answer(status, named, text), secrets=(), now=NOW)


def openai(message: str, **more: Any) -> dict[str, Any]:
    error = {"message": message, "type": "tokens", "param": None, "code": "rate_limit_exceeded"}
    return {"error": {**error, **more}}


def google(delay: str | None, message: str = "You exceeded your current quota.") -> dict[str, Any]:
    details: list[Any] = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    error = {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}
    return {"error": error}


# Source: what each vendor answers, as its documentation or its users have it.
WAITS: dict[str, tuple[ProviderError, float | None]] = {
    "any, seconds": (refused(429, retry_after="12"), 12),
    "any, a date": (refused(503, retry_after="Mon, 05 Jan 2026 12:00:30 GMT"), 30),
    "openai, milliseconds": (refused(429, retry_after_ms="1500", retry_after="2"), 1.5),
    "openai, limits": (
        refused(
            429,
            openai("Rate limit reached."),
            x_ratelimit_remaining_requests="59",
            x_ratelimit_reset_requests="1s",
            x_ratelimit_remaining_tokens="0",
            x_ratelimit_reset_tokens="6m0s",
        ),
        360,
    ),
    "openai, sentence": (
        refused(
            429,
            openai(
                "Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit "
                "30000, Used 28744, Requested 2205. Please try again in 1.898s. Visit https://x."
            ),
        ),
        1.898,
    ),
    "openai, sentence in milliseconds": (
        refused(429, openai("Rate limit reached. Please try again in 859ms.")),
        0.859,
    ),
    "openai, sentence in minutes": (
        refused(429, openai("Rate limit reached. Please try again in 6m0s.")),
        360,
    ),
    "groq": (
        refused(
            429,
            openai("Rate limit reached for model `x`. Please try again in 7m12.5s. Need more?"),
        ),
        432.5,
    ),
    "azure": (
        refused(
            429,
            {
                "error": {
                    "code": "429",
                    "message": "Requests exceeded. Please retry after 26 seconds.",
                }
            },
        ),
        26,
    ),
    "anthropic": (
        refused(
            429,
            {"type": "error", "error": {"type": "rate_limit_error", "message": "Too many."}},
            anthropic_ratelimit_requests_remaining="10",
            anthropic_ratelimit_requests_reset="2026-01-05T12:05:00Z",
            anthropic_ratelimit_input_tokens_remaining="0",
            anthropic_ratelimit_input_tokens_reset="2026-01-05T12:00:41Z",
        ),
        41,
    ),
    "anthropic, overloaded": (
        refused(
            529,
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            retry_after="5",
        ),
        5,
    ),
    "gemini": (refused(429, google("34.074824224s")), 34.074824224),
    "gemini, a list": (refused(429, [google("9s")]), 9),
    "gemini, sentence": (
        refused(429, google(None, "Quota exceeded. Please retry in 22.5s.")),
        22.5,
    ),
    "bedrock": (
        refused(
            429, {"message": "Too many requests, please wait before trying again."}, retry_after="3"
        ),
        3,
    ),
    "openrouter": (
        refused(
            429,
            {
                "error": {
                    "code": 429,
                    "message": "Rate limit exceeded: free-models-per-min.",
                    "metadata": {
                        "headers": {
                            "X-RateLimit-Limit": "20",
                            "X-RateLimit-Remaining": "0",
                            "X-RateLimit-Reset": str(int(NOW.timestamp() * 1000) + 45_000),
                        }
                    },
                }
            },
        ),
        45,
    ),
    "nothing": (refused(429, openai("Slow down.")), None),
    "nonsense": (refused(429, openai("Slow down."), retry_after="soon"), None),
    "limits that are not reached": (
        refused(429, x_ratelimit_remaining_tokens="100", x_ratelimit_reset_tokens="6m0s"),
        None,
    ),
}


def test_it_waits_as_long_as_the_vendor_asks(subtests: pytest.Subtests) -> None:
    for name in WAITS:
        with subtests.test(name=name):
            error, wait_s = WAITS[name]
            assert isinstance(error, RateLimited | ServerError)
            assert error.retry_after_s == (None if wait_s is None else pytest.approx(wait_s))


def test_an_error_within_a_stream_says_how_long_as_well() -> None:
    said = StreamError(openai("Rate limit reached. Please try again in 2s."))
    error = classify(said, answer=Answer(200), secrets=(), now=NOW)
    assert isinstance(error, RateLimited)
    assert error.retry_after_s == 2


def test_what_is_not_to_be_tried_again_has_no_wait() -> None:
    error = refused(400, openai("prompt is too long", code=None), retry_after="9")
    assert isinstance(error, OverflowError_)
    assert error.retry_after_s is None


# Source: the sentences that vendors' users quote.
OVERFLOWS: dict[str, tuple[int, Any]] = {
    "openai": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 128000 tokens. However, your "
                "messages resulted in 140012 tokens. Please reduce the length of the messages.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    ),
    "openai responses": (
        400,
        {
            "error": {
                "message": "Your input exceeds the context window of this model. Please adjust "
                "your input and try again.",
                "type": "invalid_request_error",
                "param": "input",
                "code": "context_length_exceeded",
            }
        },
    ),
    "anthropic": (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 213462 tokens > 200000 maximum",
            },
        },
    ),
    "anthropic with max_tokens": (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > "
                "200000, decrease input length or `max_tokens` and try again",
            },
        },
    ),
    "anthropic, bytes": (
        413,
        {
            "type": "error",
            "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"},
        },
    ),
    "gemini": (
        400,
        {
            "error": {
                "code": 400,
                "message": "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576).",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
    "bedrock, claude": (
        400,
        {"message": "The model returned the following errors: prompt is too long: 200001 tokens"},
    ),
    "xai": (
        400,
        {
            "code": "Client specified an invalid argument",
            "error": "This model's maximum prompt length is 131072 but the request contains "
            "537812 tokens.",
        },
    ),
    "groq": (
        400,
        {
            "error": {
                "message": "Please reduce the length of the messages or completion.",
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
            }
        },
    ),
    "mistral": (
        400,
        {
            "object": "error",
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
            "32768 maximum context length",
            "type": "invalid_request_prompt",
        },
    ),
    "openrouter": (
        400,
        {
            "error": {
                "message": "This endpoint's maximum context length is 131072 tokens. However, you "
                "requested about 150000 tokens.",
                "code": 400,
            }
        },
    ),
    "deepseek": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 131072 tokens. However, you "
                "requested 140000 tokens",
                "type": "invalid_request_error",
            }
        },
    ),
    "cohere": (
        400,
        {"message": "too many tokens: total number of tokens in the prompt cannot exceed 128000"},
    ),
    "copilot": (
        400,
        {
            "error": {
                "message": "prompt token count of 130000 exceeds the limit of 128000",
                "code": "model_max_prompt_tokens_exceeded",
            }
        },
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 tokens. However, you requested "
            "9000 tokens in the messages.",
        },
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "lm studio": (
        400,
        {
            "error": "Trying to keep the first 9000 tokens when context the overflows. The number "
            "of tokens to keep from the initial prompt is greater than the context length."
        },
    ),
    "moonshot": (
        400,
        {
            "error": {
                "message": "Invalid request: Your request exceeded model token limit: 262144",
                "type": "invalid_request_error",
            }
        },
    ),
    "minimax": (400, {"error": {"message": "invalid params, context window exceeds limit (2013)"}}),
    "z.ai": (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
}


def test_each_vendors_overflow_is_known(subtests: pytest.Subtests) -> None:
    for vendor in OVERFLOWS:
        with subtests.test(vendor=vendor):
            status, body = OVERFLOWS[vendor]
            assert type(refused(status, body)) is OverflowError_


def test_an_overflow_within_a_stream_is_known(subtests: pytest.Subtests) -> None:
    for vendor in OVERFLOWS:
        with subtests.test(vendor=vendor):
            _, body = OVERFLOWS[vendor]
            error = classify(StreamError(body), answer=Answer(200), secrets=(), now=NOW)
            if vendor != "anthropic, bytes":  # it has no words of its own for that
                assert type(error) is OverflowError_


class LibraryFault(Exception):
    pass


def test_no_text_of_a_library_is_in_an_error(subtests: pytest.Subtests) -> None:
    cases = [
        LibraryFault("botocore: Unable to locate credentials"),
        KeyError("choices"),
        json.JSONDecodeError("Expecting value", "x", 0),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid start byte"),
        OSError("[Errno 104] Connection reset by peer at 0x7f"),
        TimeoutError("timed out in loop"),
    ]
    for exc in cases:
        with subtests.test(exc=exc):
            error = classify(exc, answer=Answer(200), secrets=(), now=NOW)
            assert str(exc) not in error.message
            assert str(exc.args[0]) not in f"{error.message} {error.response_body} {error.told}"
            assert error.message.startswith(("The provider ", "The connection "))
