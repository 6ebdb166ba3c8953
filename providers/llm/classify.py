"""From what a provider answered, or how the connection broke, to a leaf of `errors.py`. Pure.

The HTTP facts come first; an exception says more only when there was no answer, or when the error
came within the stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus

import httpcore
import httpx

from .connection import TookTooLong
from .errors import (
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
from .framing import UNREADABLE, StreamError
from .json import JsonValue
from .overflow import is_overflow
from .reasons import ErrorReason
from .redaction import redact
from .secret import Secret
from .waits import wanted_wait_s

MAX_MESSAGE_CHARS = 1_000

_BY_STATUS: dict[int, type[ProviderError]] = {
    401: AuthError,
    402: QuotaExceeded,
    403: AuthError,
    404: UnknownModel,
    408: NetworkError,
    409: ServerError,  # OpenAI and Anthropic: a conflict on their side, to be tried again
    425: RateLimited,
    429: RateLimited,
}
# `error.code` or `error.type` of a body or of an error event in a stream.
# Source: what OpenCode retries, and the vendors' error pages; …Exception is what Bedrock says.
_BY_CODE: dict[str, type[ProviderError]] = {
    "insufficient_quota": QuotaExceeded,
    "usage_not_included": QuotaExceeded,
    "billing_error": QuotaExceeded,
    "invalid_prompt": BadRequest,
    "invalid_request_error": BadRequest,
    "not_found_error": UnknownModel,
    "model_not_found": UnknownModel,
    "authentication_error": AuthError,
    "invalid_api_key": AuthError,
    "permission_error": AuthError,
    "content_filter": ContentFiltered,
    "content_policy_violation": ContentFiltered,
    "rate_limit_error": RateLimited,
    "rate_limit_exceeded": RateLimited,
    "overloaded_error": ServerError,
    "server_is_overloaded": ServerError,
    "server_error": ServerError,
    "api_error": ServerError,
    "accessDeniedException": AuthError,
    "internalServerException": ServerError,
    "modelStreamErrorException": ServerError,
    "modelTimeoutException": ServerError,
    "serviceUnavailableException": ServerError,
    "throttlingException": RateLimited,
    "validationException": BadRequest,
    # Google's `error.status`.
    "INVALID_ARGUMENT": BadRequest,
    "FAILED_PRECONDITION": BadRequest,
    "NOT_FOUND": UnknownModel,
    "UNAUTHENTICATED": AuthError,
    "PERMISSION_DENIED": AuthError,
    "RESOURCE_EXHAUSTED": RateLimited,
    "UNAVAILABLE": ServerError,
    "INTERNAL": ServerError,
    "DEADLINE_EXCEEDED": ServerError,
}
# A 403 that names it is about the model that was asked for, and not about the key.
_OF_MODEL = re.compile(r"\bmodels?\b", re.I)
# Said with any status when another try may help. Source: what OpenCode retries.
_RETRYABLE = re.compile(
    r"overloaded|too.?many.?requests|rate.?limit|rate increased too quickly|resource.?exhausted"
    r"|at capacity|\b(?:429|500|502|503|504|524)\b"
    r"|service.?(?:is.?)?unavailable|internal (?:server )?error|server.?error"
    r"|provider returned error|try (?:your request )?again|timed.?out"
    r"|terminated|fetch failed|network.?error|upstream connect|socket hang up|reset before headers"
    r"|connection (?:error|refused|lost|reset)|ECONN[A-Z]+|ETIMEDOUT|ENOTFOUND|EAI_AGAIN"
    r"|getaddrinfo|name resolution",
    re.I,
)
# OpenRouter says so of whatever a vendor behind it answered; another try may reach another one.
_PASSED_ON = "provider returned error"
# Believed where no status says more.
_VAGUE = re.compile(rf"{_RETRYABLE.pattern}|time.?out", re.I)
_PAGE = " It was a web page: a gateway or proxy in front of the provider may have refused."
_BROKEN = (
    httpx.TransportError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    TimeoutError,
    OSError,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back over HTTP; nothing at all when `status_code` is None."""

    status_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


def classify(
    exc: BaseException | None, *, answer: Answer, secrets: Iterable[Secret], now: datetime
) -> ProviderError:
    """Make the one error that says what went wrong. No given secret is in it."""
    secrets = tuple(secrets)
    # A redirect is a failure, too: it is never followed, because it could lead anywhere.
    failed = answer.status_code is not None and not 200 <= answer.status_code < 300
    status = answer.status_code if failed else _status_of(exc)
    if not failed and exc is not None:
        broken = next((cause for cause in _chain(exc) if isinstance(cause, _BROKEN)), None)
        if broken is not None:
            error = NetworkError(reason=_describe_break(broken))
            if isinstance(broken, httpx.ConnectError):
                error.cause = redact(str(broken.__cause__ or ""), secrets=secrets)
            return error
    text = answer.body if failed else text_of(exc)
    message, codes = _read_body(text)
    wait_s = wanted_wait_s(answer.headers if failed else {}, _parsed(text), message, now=now)
    leaf = _leaf(status, codes, message, text)
    body = redact(text, secrets=secrets)
    said = redact(message, secrets=secrets).strip()[:MAX_MESSAGE_CHARS]
    is_page = leaf is AuthError and "<html" in text.lower()
    reason, values = (None, {}) if said else _unsaid(status, is_page=is_page)
    return leaf(
        f"{said}{_PAGE}" if is_page else said,
        reason=reason,
        values=values,
        status_code=status,
        # Only who is to come again is told when.
        retry_after_s=wait_s if leaf.retryable else None,
        response_body=body if failed else "",
    )


def _leaf(status: int | None, codes: list[str], message: str, body: str) -> type[ProviderError]:
    text = f"{message}\n{body}"
    if is_overflow(status_code=status, codes=codes, text=text):
        return OverflowError_
    # The specific code goes before the status: OpenAI says 429 for "you have to pay", too.
    special = next((_BY_CODE[code] for code in codes if code in _BY_CODE), None)
    if status is None or special in {QuotaExceeded, ContentFiltered}:
        vague = ServerError if _VAGUE.search(text) else ProviderError
        return special or vague
    if status in _BY_STATUS:
        is_passed_on = status in {403, 404} and _PASSED_ON in text.lower()
        is_of_model = special is UnknownModel or (status == 403 and _OF_MODEL.search(message))
        otherwise = UnknownModel if status in {401, 403} and is_of_model else _BY_STATUS[status]
        return ServerError if is_passed_on else otherwise
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        if special in {ServerError, UnknownModel, RateLimited}:
            return special
        return RateLimited if _RETRYABLE.search(text) else BadRequest
    # Mistral calls its own failures invalid requests.
    return special if special is not None and special.retryable else ServerError


def _status_of(exc: BaseException | None) -> int | None:
    status = getattr(exc, "status_code", None)
    return status if isinstance(status, int) and status >= HTTPStatus.BAD_REQUEST else None


def text_of(exc: BaseException | None) -> str:
    """Returns: what the stream itself has said, with its codes.

    A library's own words tell nobody what to do.
    """
    if isinstance(exc, StreamError):
        return json.dumps(exc.body)
    return "" if exc is None else UNREADABLE


def _chain(exc: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = exc
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _describe_break(cause: BaseException) -> ErrorReason:
    if isinstance(cause, httpx.ConnectError):
        return ErrorReason.UNANSWERED
    if isinstance(cause, TookTooLong):
        return ErrorReason.TOO_SLOW
    if isinstance(cause, httpx.TimeoutException | httpcore.TimeoutException | TimeoutError):
        return ErrorReason.SILENT
    return ErrorReason.CONNECTION_CUT


def _parsed(text: str) -> JsonValue:
    """Returns: the body, or the first of what it lists; None when it is no JSON."""
    try:
        parsed: JsonValue = json.loads(text)
    except ValueError:
        return None
    return parsed[0] if isinstance(parsed, list) and parsed else parsed


def _read_body(text: str) -> tuple[str, list[str]]:
    """Returns: (the provider's own sentence, its error codes with the most specific first)."""
    parsed = _parsed(text)
    if parsed is None:
        return ("" if "<html" in text.lower() else text), []
    if not isinstance(parsed, dict):
        return str(parsed), []
    several = parsed.get("errors")  # watsonx
    error = several[0] if isinstance(several, list) and several else parsed.get("error", parsed)
    if isinstance(error, dict):
        codes = [str(error[key]) for key in ("code", "type", "status") if error.get(key)]
        message = error.get("message") or error.get("detail")
        return (message if isinstance(message, str) else ""), codes
    message = error or parsed.get("message") or parsed.get("detail")
    return (message if isinstance(message, str) else ""), []


def _unsaid(status: int | None, *, is_page: bool) -> tuple[ErrorReason, dict[str, str | int]]:
    """Returns: what there is to say of a provider that has said nothing itself, and the values."""
    if status is None:
        return ErrorReason.SPEECHLESS, {}
    reason = ErrorReason.PAGE_ANSWERED if is_page else ErrorReason.ANSWERED
    try:
        return reason, {"status": f"{status} {HTTPStatus(status).phrase}"}
    except ValueError:  # 529 and other numbers of the vendors' own
        return reason, {"status": status}
