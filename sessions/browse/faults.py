"""Faults of the caller on their way from the host of the files to the process that asked."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from opencode_web.lib.errors import (
    AppError,
    Conflict,
    ErrorCode,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
    Unavailable,
)
from opencode_web.lib.json import JsonObject
from sessions.browse.apply import NotApplied

_KINDS: dict[str, type[AppError]] = {
    kind.__name__: kind
    for kind in (Conflict, Forbidden, Invalid, NotApplied, NotFound, TooLarge, Unavailable)
}


class Fault(TypedDict):
    """A fault as JSON. `what` is that of a `NotFound`. A host of an older version has no `kind`."""

    kind: NotRequired[str]
    status: int
    code: str
    message: str
    data: JsonObject
    what: NotRequired[str]


def fault_to_json(error: AppError) -> Fault:
    """Convert an error of an operation, with its message in the language that it was made in."""
    fault: Fault = {
        "kind": type(error).__name__,
        "status": error.status,
        "code": error.code.value,
        "message": error.message,
        "data": error.data,
    }
    if isinstance(error, NotFound):
        fault["what"] = error.what
    return fault


def fault_from_json(fault: Fault) -> AppError:
    """Returns: the error again, of its class where that is known here."""
    kind = _KINDS.get(fault.get("kind", ""), AppError)
    # Some of them word their message when they are made, and this one has been worded.
    error = kind.__new__(kind)
    AppError.__init__(error, fault["message"], **fault["data"])
    error.status, error.code = fault["status"], ErrorCode(fault["code"])
    if isinstance(error, NotFound):
        error.what = fault.get("what", "")
    return error
