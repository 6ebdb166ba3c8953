from __future__ import annotations

from opencode_web.lib.errors import AppError, ErrorCode
from opencode_web.lib.json import JsonObject

# What is not found, by the first word of the message.
_MISSING = {
    "Session": "SessionNotFoundError",
    "Message": "MessageNotFoundError",
    "Permission": "PermissionNotFoundError",
    "Question": "QuestionNotFoundError",
    "Provider": "ProviderNotFoundError",
    "Terminal": "PtyNotFoundError",
}


def tagged(error: AppError) -> JsonObject:
    """Returns: what the second version's clients read, to go beside the one error shape."""
    tag = str(error.code)
    if error.code is ErrorCode.NOT_FOUND:
        tag = _MISSING.get(error.message.partition(" ")[0], tag)
    if error.code is ErrorCode.INVALID:
        tag = "InvalidRequestError"
    return {"_tag": tag, "message": error.message}
