"""What can go wrong between us and a model.

    ProviderError
    ├── AuthError          401, 403: the key is missing, wrong or not allowed
    ├── BadRequest         400, 404, 422 …: asking again would give the same
    ├── OverflowError_     the prompt is longer than the model can read
    ├── ContentFiltered    the provider refused the content
    ├── QuotaExceeded      402, insufficient_quota: somebody has to pay first
    ├── RateLimited        429: wait, then again                        (retryable)
    ├── ServerError        5xx, 529, overloaded                         (retryable)
    └── NetworkError       no connection, cut stream, silence           (retryable)

`classify.py` maps answers and litellm's exceptions onto the leaves. No text in here may hold a key:
messages and bodies go through `redaction.redact` before an error is made of them.
"""

from __future__ import annotations

from typing import ClassVar

from opencode_web.lib.json import JsonObject

MAX_BODY_CHARS = 4_000


class ProviderError(Exception):
    """A failed provider turn. `response_body` is cut and free of secrets."""

    retryable: ClassVar[bool] = False
    wire_name: ClassVar[str] = "APIError"

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

    def to_wire(self, *, provider_id: str) -> JsonObject:
        """Return the error object of an assistant message.

        Source: the message errors of OpenCode's HTTP API.
        """
        data: JsonObject = {"message": self.message, "isRetryable": self.retryable}
        if self.status_code is not None:
            data["statusCode"] = self.status_code
        if self.response_body:
            data["responseBody"] = self.response_body
        return {"name": self.wire_name, "data": data}


class AuthError(ProviderError):
    """The provider does not accept the credential."""

    wire_name = "ProviderAuthError"

    def to_wire(self, *, provider_id: str) -> JsonObject:
        """Return the error object of an assistant message."""
        return {
            "name": self.wire_name,
            "data": {"providerID": provider_id, "message": self.message},
        }


class BadRequest(ProviderError):
    """The provider does not understand or know what was asked for."""


class OverflowError_(ProviderError):
    """The prompt does not fit the model; compaction is the way on, never a retry."""

    wire_name = "ContextOverflowError"

    def to_wire(self, *, provider_id: str) -> JsonObject:
        """Return the error object of an assistant message."""
        data: JsonObject = {"message": self.message}
        if self.response_body:
            data["responseBody"] = self.response_body
        return {"name": self.wire_name, "data": data}


class ContentFiltered(ProviderError):
    """The provider's content policy stopped the request."""

    wire_name = "ContentFilterError"

    def to_wire(self, *, provider_id: str) -> JsonObject:
        """Return the error object of an assistant message."""
        return {"name": self.wire_name, "data": {"message": self.message}}


class QuotaExceeded(ProviderError):
    """The account has nothing left to spend; waiting does not help."""


class RateLimited(ProviderError):
    """Too many requests for now."""

    retryable = True


class ServerError(ProviderError):
    """The provider has a problem of its own."""

    retryable = True


class NetworkError(ProviderError):
    """The connection could not be made, was cut, or went silent."""

    retryable = True
