"""How long a vendor wants a caller to wait, wherever it says so. Pure.

Looked at in this order: the headers that every vendor can send, the body's own field, the headers
of a vendor's limits, and at last its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from .json import JsonValue
from .retry import parse_retry_after

_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")
# Source: the rate limit errors of OpenAI, Groq, Azure OpenAI and Gemini.
_SENTENCE = re.compile(
    r"(?:try again in|retry in|retry after)\s+(\d[\dhms.]*)(?:\s*(?:seconds?|ms\b))?", re.I
)
# Vendor's limits: what is left of one, and when it is whole again.
# Source: platform.openai.com/docs/guides/rate-limits, docs.anthropic.com/en/api/rate-limits,
# openrouter.ai/docs/api-reference/limits.
_LIMITS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
_MILLISECONDS_FROM = 1e11
_SECONDS_FROM = 1e9


def wanted_wait_s(
    headers: Mapping[str, str], body: JsonValue, message: str, *, now: datetime
) -> float | None:
    """Read how long to wait from a refusal.

    Units: seconds, never negative. None when it does not say.
    """
    given = parse_retry_after(headers, now=now)
    if given is not None:
        return given
    for found in (_of_details(body), _of_limits(_headers_in(body) or headers, now), _said(message)):
        if found is not None:
            return found
    return None


def _of_details(body: JsonValue) -> float | None:
    """Gemini's `google.rpc.RetryInfo`."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and str(one.get("@type", "")).endswith("google.rpc.RetryInfo"):
            return _span_s(str(one.get("retryDelay", "")))
    return None


def _headers_in(body: JsonValue) -> dict[str, str]:
    """What OpenRouter repeats of the headers of who served it, in `error.metadata.headers`."""
    found = body
    for name in ("error", "metadata", "headers"):
        found = found.get(name) if isinstance(found, dict) else None
    given = found if isinstance(found, dict) else {}
    return {name.lower(): str(value) for name, value in given.items()}


def _of_limits(headers: Mapping[str, str], now: datetime) -> float | None:
    return max(_resets(headers, now), default=None)


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[float]:
    for left, reset in _LIMITS:
        if headers.get(left) == "0" and (wait_s := _until_s(headers.get(reset, ""), now)):
            yield wait_s


def _until_s(text: str, now: datetime) -> float | None:
    """A span, a moment of RFC 3339, or seconds or milliseconds since the epoch."""
    span = _span_s(text)
    if span is not None:
        return span
    try:
        number = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    if not 0 <= number < float("inf"):
        return None
    if number >= _SECONDS_FROM:
        seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
        return max(0.0, seconds - now.timestamp())
    return number


def _said(message: str) -> float | None:
    found = _SENTENCE.search(message)
    text = found[1].rstrip(".") if found else ""
    span = _span_s(text)
    if span is not None or not re.fullmatch(r"\d+(?:\.\d+)?", text):
        return span
    is_ms = found is not None and found[0].endswith("ms")
    return float(text) / 1000 if is_ms else float(text)


def _span_s(text: str) -> float | None:
    """Such as `1s`, `6m0s`, `120ms`, `34.07s`."""
    found = _SPAN.fullmatch(text.strip())
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds, milliseconds = (float(one or 0) for one in found.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
