from __future__ import annotations

import logging
import sys

from opencode_web.lib.log_format import LineFormatter


def line(message: str, **extra: object) -> str:
    record = logging.LogRecord("x", logging.INFO, "f.py", 1, message, None, None)
    record.__dict__.update(extra)
    return LineFormatter("%(levelname)s %(message)s").format(record)


def test_the_fields_of_an_operation_follow_the_message() -> None:
    fields = {"operation": "turn", "session": "ses_1", "calls": 2, "ms": 12.5}
    assert line("turn ended", fields=fields) == (
        "INFO turn ended operation=turn session=ses_1 calls=2 ms=12.5"
    )


def test_a_value_cannot_make_a_second_field_or_line() -> None:
    fields = {"model": "a b=c", "name": "", "other": "x\ny"}
    assert line("turn ended", fields=fields) == (
        "INFO turn ended model='a b=c' name='' other='x\\ny'"
    )


def test_a_message_cannot_make_a_second_line_or_steer_a_terminal() -> None:
    forged = "settings x\n2026-11-26 INFO audit.signed\r\x1b[2J\u2028 are ignored"
    assert line(forged) == (
        "INFO settings x\\n2026-11-26 INFO audit.signed\\r\\x1b[2J\\u2028 are ignored"
    )
    try:
        raise ValueError("x")
    except ValueError:
        assert "\nTraceback" in line("failed", exc_info=sys.exc_info())


def test_other_messages_stay_as_they_are() -> None:
    assert line("server started") == "INFO server started"
