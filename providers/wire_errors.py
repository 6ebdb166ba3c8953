"""Errors of providers as clients see them in a message.

Source: the message errors of OpenCode's HTTP API.
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, Told, english
from providers.llm.errors import AuthError, ContentFiltered, ProviderError
from providers.llm.reasons import ErrorReason


def told_of(error: ProviderError, *, advise: bool = True) -> Told:
    """Returns: what went wrong, and what to do; without advice while it is tried again."""
    said: Told = Cause(error.reason, error.values) if error.reason else error.message
    if not advise:
        return said
    if not isinstance(said, Cause):
        # An answer has the provider's own words, which are no sentence of ours.
        answered = error.status_code is not None
        said = Cause(ErrorReason.SAID, {"said": said}) if answered else error.said
    return Cause(error.advice, {"said": said}) if error.advice else said


def words_of(error: ProviderError) -> str:
    """Returns: what went wrong, in the reader's language where it was not the provider's word."""
    told = told_of(error, advise=False)
    return told.worded() if isinstance(told, Cause) else told


def error_to_wire(error: ProviderError, *, provider_id: str, advise: bool = True) -> JsonObject:
    """Returns: the error object of an assistant message, with the cause where it has one."""
    told = told_of(error, advise=advise)
    cause = told.to_json() if isinstance(told, Cause) else {}
    data = {**_data(error, english(told), provider_id), **cause}
    return {"name": error.wire_name, "data": data}


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
