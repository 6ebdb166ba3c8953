"""Errors as the types of OpenCode's SDK have them, in one body with `{name, data}`.

Some of its operations declare errors by `name`, others by `_tag`, and some both. A body with either
is right for all of them.
Source: the OpenAPI document of OpenCode 1.18.
"""

from __future__ import annotations

from django.http import HttpRequest

from opencode_web.lib.errors import AppError, ErrorCode, NotFound
from opencode_web.lib.json import JsonObject

# By what `NotFound` names: the tag, and the field that has the name.
_MISSING = {
    "Session": ("SessionNotFoundError", "sessionID"),
    "Message": ("MessageNotFoundError", "messageID"),
    "Permission request": ("PermissionNotFoundError", "requestID"),
    "Question": ("QuestionNotFoundError", "requestID"),
    "Project": ("ProjectNotFoundError", "projectID"),
    "Provider": ("ProviderNotFoundError", "providerID"),
    "MCP server": ("McpServerNotFoundError", "name"),
    "Terminal": ("PtyNotFoundError", "ptyID"),
}
_FIELDS = {
    "session_id": "sessionID",
    "message_id": "messageID",
    "request_id": "requestID",
    "question_id": "requestID",
    "project_id": "projectID",
    "provider_id": "providerID",
    "name": "name",
    "pty_id": "ptyID",
}


def error_body(request: HttpRequest, error: AppError) -> JsonObject:
    """Returns: the body of an error for clients of the API."""
    tag, fields = str(error.code), list[str]()
    if error.code is ErrorCode.INVALID:
        tag = "InvalidRequestError"
    elif isinstance(error, NotFound) and error.what in _MISSING:
        tag, field = _MISSING[error.what]
        fields = ["sessionID", field]
    kwargs = request.resolver_match.kwargs if request.resolver_match else {}
    named = {_FIELDS[key]: str(value) for key, value in kwargs.items() if key in _FIELDS}
    ids = {field: named[field] for field in fields if field in named}
    # Of an MCP server the `name` is its own.
    return {"_tag": tag, "message": error.message, **error.to_json(), **ids}
