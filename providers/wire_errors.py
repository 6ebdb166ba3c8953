"""Errors of providers as clients see them in a message.

Source: the message errors of OpenCode's HTTP API.
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject
from providers.llm.errors import AuthError, ContentFiltered, ProviderError


def error_to_wire(error: ProviderError, *, provider_id: str, advise: bool = True) -> JsonObject:
    """Returns: the error object of an assistant message; without advice while it is tried again."""
    message = error.told if advise else error.message
    return {"name": error.wire_name, "data": _data(error, message, provider_id)}


def _data(error: ProviderError, message: str, provider_id: str) -> JsonObject:
    if isinstance(error, AuthError):
        return {"providerID": provider_id, "message": message}
    data: JsonObject = {"message": message}
    if error.wire_name == ProviderError.wire_name:
        data["isRetryable"] = error.retryable
        if error.status_code is not None:
            data["statusCode"] = error.status_code
    if error.response_body and not isinstance(error, ContentFiltered):
        data["responseBody"] = error.response_body
    return data
