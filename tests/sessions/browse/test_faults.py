from __future__ import annotations

import json

import pytest

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
from sessions.browse.apply import NotApplied
from sessions.browse.faults import fault_from_json, fault_to_json

FAULTS = [
    Conflict("It is there already."),
    Forbidden("Ask for it.", right="read"),
    Invalid("It is a folder.", field="path"),
    NotApplied("The patch does not apply."),
    TooLarge("It is too large."),
    Unavailable("Try again later."),
]


def sent(error: AppError) -> AppError:
    return fault_from_json(json.loads(json.dumps(fault_to_json(error))))


def test_a_fault_keeps_its_class(subtests: pytest.Subtests) -> None:
    for error in FAULTS:
        with subtests.test(error=error):
            back = sent(error)
            assert type(back) is type(error)
            assert str(back) == str(error)
            assert vars(back) == {**vars(error), "status": error.status, "code": error.code}


def test_a_fault_of_a_host_of_an_older_version_keeps_its_status_and_words() -> None:
    fault = fault_to_json(Conflict("It is there already."))
    del fault["kind"]
    back = fault_from_json(fault)
    assert (back.message, back.status) == ("It is there already.", 409)


def test_what_was_not_found_is_known_afterwards() -> None:
    error = NotFound("File", "a.py")
    back = sent(error)
    assert isinstance(back, NotFound)
    assert (back.what, back.message, back.status) == ("File", error.message, 404)


def test_a_fault_of_another_class_keeps_its_status_and_code() -> None:
    class Strange(AppError):
        code = ErrorCode.CONFLICT
        status = 409

    back = sent(Strange("It is strange."))
    assert type(back) is AppError
    assert (back.status, back.code, back.message) == (409, ErrorCode.CONFLICT, "It is strange.")
