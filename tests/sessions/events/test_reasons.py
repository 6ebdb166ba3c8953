from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from opencode_web.lib.reasons import Cause
from sessions.events.reasons import TurnReason, read_cause, told_by_error, told_error


def test_a_cause_is_read_back_as_it_was_stored() -> None:
    inner = Cause(TurnReason.STEP_LIMIT, {"limit": 3})
    values = {"why": inner, "wait_s": 5, "limit_s": Decimal("1.50"), "day": date(2026, 12, 1)}
    cause = Cause(TurnReason.RETRY_AFTER, values)
    assert read_cause(cause.to_json()) == cause


@pytest.mark.parametrize(
    "data", [{}, {"reason": "unheard_of", "values": {}}, {"reason": "cut"}, {"reason": None}]
)
def test_what_has_no_known_reason_has_no_cause(data: dict[str, object]) -> None:
    assert read_cause(data) is None


def test_an_error_says_its_cause_in_english_too() -> None:
    cause = Cause(TurnReason.STEP_LIMIT, {"limit": 3})
    error = told_error(cause, more={"isRetryable": False})
    assert (error.name, error.data["isRetryable"]) == ("UnknownError", False)
    assert str(error.data["message"]).startswith("Stopped after 3 steps")
    assert told_by_error(error) == cause
    told = told_error("As the provider said", name="APIError")
    assert told.data == {"message": "As the provider said"}
    assert told_by_error(told) == "As the provider said"
