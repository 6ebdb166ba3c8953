"""What can go wrong between us and a model.

    ProviderError
    ├── AuthError          401, 403: the key is missing, wrong or not allowed
    ├── BadRequest         400, 422 …: asking again would give the same
    │   ├── RefusedRequest what this server does not send
    │   ├── RefusedFiles   it does not take a picture or document
    │   │   └── UnreadablePictures  nobody can read them, so they were not sent
    │   └── UnknownModel   404, 403 for a model: no such model, or not for this key
    ├── OverflowError_     the prompt is longer than the model can read
    ├── ContentFiltered    the provider refused the content
    ├── QuotaExceeded      402, insufficient_quota: somebody has to pay first
    ├── RateLimited        429: wait, then again                        (retryable)
    ├── ServerError        5xx, 529, overloaded                         (retryable)
    └── NetworkError       no connection, cut stream, silence           (retryable)

`classify.py` maps answers and broken connections onto the leaves. No text in here may hold a key:
messages and bodies go through `redaction.redact` before an error is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .messages import File
from .reasons import ErrorReason, Sentenced

MAX_BODY_CHARS = 2_000


class ProviderError(Exception):
    """A failed provider turn. `response_body` is cut and free of secrets.

    With a `reason`, its sentence with the `values` is the message; without, the provider said it.
    """

    retryable: ClassVar[bool] = False
    # Its name for programs.
    wire_name: ClassVar[str] = "APIError"
    # What the person who reads the error can do, after what was `{said}`.
    advice: ClassVar[Sentenced | None] = None

    def __init__(
        self,
        message: str = "",
        *,
        reason: Sentenced | None = None,
        values: Mapping[str, str | int] | None = None,
        status_code: int | None = None,
        retry_after_s: float | None = None,
        response_body: str = "",
    ) -> None:
        self.reason, self.values = reason, values or {}
        self.message = reason.sentence.format(**self.values) if reason else message
        super().__init__(self.message)
        self.status_code = status_code
        self.retry_after_s = retry_after_s
        self.response_body = response_body[:MAX_BODY_CHARS]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, status_code={self.status_code})"

    @property
    def said(self) -> str:
        """What went wrong, as a whole sentence."""
        said = self.message.rstrip()
        return said if not said or said.endswith((".", "!", "?", "…")) else f"{said}."

    @property
    def told(self) -> str:
        """What went wrong, and what a person can do about it."""
        return self.advice.sentence.format(said=self.said).strip() if self.advice else self.said


class AuthError(ProviderError):
    """The provider does not accept the credential."""

    wire_name = "ProviderAuthError"
    advice: ClassVar[Sentenced | None] = ErrorReason.KEY_REFUSED


class BadRequest(ProviderError):
    """The provider does not understand or allow what was asked for."""

    advice: ClassVar[Sentenced | None] = ErrorReason.REQUEST_REFUSED


class RefusedRequest(BadRequest):
    """This server does not send it; the message says what to change."""

    advice = None


class RefusedFiles(BadRequest):
    """It would be refused again each time, so the request has to be made without these.

    `is_certain`: the provider has said which; else it may be any of `files`.
    """

    advice = ErrorReason.FILE_REFUSED

    def __init__(
        self,
        message: str = "",
        *,
        files: tuple[File, ...],
        is_certain: bool,
        reason: Sentenced | None = None,
        values: Mapping[str, str | int] | None = None,
        status_code: int | None = None,
        response_body: str = "",
    ) -> None:
        super().__init__(
            message,
            reason=reason,
            values=values,
            status_code=status_code,
            response_body=response_body,
        )
        self.files = files
        self.is_certain = is_certain


class UnreadablePictures(RefusedFiles):
    """They are broken, or too large to be decoded here."""

    def __init__(self, files: tuple[File, ...]) -> None:
        super().__init__(reason=ErrorReason.UNREADABLE_PICTURE, files=files, is_certain=True)


class UnknownModel(BadRequest):
    """The provider has no such model, or not for this key."""

    advice = ErrorReason.UNKNOWN_MODEL


class OverflowError_(ProviderError):
    """The prompt does not fit the model; compaction is the way on, never a retry."""

    wire_name = "ContextOverflowError"
    advice = ErrorReason.PROMPT_TOO_LONG


class ContentFiltered(ProviderError):
    """The provider's content policy stopped the request."""

    wire_name = "ContentFilterError"
    advice = ErrorReason.CONTENT_REFUSED


class QuotaExceeded(ProviderError):
    """The account has nothing left to spend; waiting does not help."""

    advice = ErrorReason.QUOTA_EXCEEDED


class RateLimited(ProviderError):
    """Too many requests for now."""

    retryable = True
    advice = ErrorReason.RATE_LIMITED


class ServerError(ProviderError):
    """The provider has a problem of its own."""

    retryable = True
    advice = ErrorReason.PROVIDER_FAILED


class NetworkError(ProviderError):
    """The connection could not be made, was cut, or went silent.

    `cause` is why there was none, for operators only: it tells what is in the server's network.
    """

    retryable = True
    advice = ErrorReason.UNREACHABLE
    cause = ""
