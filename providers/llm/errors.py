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

from typing import ClassVar

from .messages import File
from .texts import gettext_noop

MAX_BODY_CHARS = 2_000
# Of a stream that has begun well.
CUT = "The provider's answer ended in the middle."
_UNREADABLE = gettext_noop("It is not a picture that can be read, or it is too large.")


class ProviderError(Exception):
    """A failed provider turn. `response_body` is cut and free of secrets."""

    retryable: ClassVar[bool] = False
    # Its name for programs.
    wire_name: ClassVar[str] = "APIError"
    # What the person who reads the error can do.
    advice: ClassVar[str] = ""

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        retry_after_s: float | None = None,
        response_body: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code
        self.retry_after_s = retry_after_s
        self.response_body = response_body[:MAX_BODY_CHARS]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r}, status_code={self.status_code})"

    @property
    def told(self) -> str:
        """What went wrong, and what a person can do about it."""
        said = self.message.rstrip()
        end = "" if not said or said.endswith((".", "!", "?", "…")) else "."
        return f"{said}{end} {self.advice}".strip()


class AuthError(ProviderError):
    """The provider does not accept the credential."""

    wire_name = "ProviderAuthError"
    advice = gettext_noop(
        "The key was refused: an admin can replace it under Team settings → Models."
    )


class BadRequest(ProviderError):
    """The provider does not understand or allow what was asked for."""

    advice = gettext_noop(
        "Asking again will give the same: change the message, or choose another model."
    )


class RefusedRequest(BadRequest):
    """This server does not send it; the message says what to change."""

    advice = ""


class RefusedFiles(BadRequest):
    """It would be refused again each time, so the request has to be made without these.

    `is_certain`: the provider has said which; else it may be any of `files`.
    """

    advice = gettext_noop("Send the file in another form, or choose another model.")

    def __init__(
        self,
        message: str,
        *,
        files: tuple[File, ...],
        is_certain: bool,
        status_code: int | None = None,
        response_body: str = "",
    ) -> None:
        super().__init__(message, status_code=status_code, response_body=response_body)
        self.files = files
        self.is_certain = is_certain


class UnreadablePictures(RefusedFiles):
    """They are broken, or too large to be decoded here."""

    def __init__(self, files: tuple[File, ...]) -> None:
        super().__init__(_UNREADABLE, files=files, is_certain=True)


class UnknownModel(BadRequest):
    """The provider has no such model, or not for this key."""

    advice = gettext_noop(
        "Choose another model, or have an admin check its name under Team settings → Models."
    )


class OverflowError_(ProviderError):
    """The prompt does not fit the model; compaction is the way on, never a retry."""

    wire_name = "ContextOverflowError"
    advice = gettext_noop("Start a new session, or choose a model that reads more.")


class ContentFiltered(ProviderError):
    """The provider's content policy stopped the request."""

    wire_name = "ContentFilterError"
    advice = gettext_noop("Ask in other words, or choose another model.")


class QuotaExceeded(ProviderError):
    """The account has nothing left to spend; waiting does not help."""

    advice = gettext_noop(
        "Its account has nothing left to spend: an admin can top it up at the provider, or set "
        "another key under Team settings → Models."
    )


class RateLimited(ProviderError):
    """Too many requests for now."""

    retryable = True
    advice = gettext_noop(
        "The provider takes no more for now: wait a little, or choose another model."
    )


class ServerError(ProviderError):
    """The provider has a problem of its own."""

    retryable = True
    advice = gettext_noop(
        "The provider has a problem of its own: try later, or choose another model."
    )


class NetworkError(ProviderError):
    """The connection could not be made, was cut, or went silent."""

    retryable = True
    advice = gettext_noop(
        "Try later; if it stays, an admin can check the address under Team settings → Models."
    )
