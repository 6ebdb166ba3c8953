from __future__ import annotations

from datetime import UTC, datetime

import pytest

from opencode_web.lib.errors import Invalid
from sessions.cron_times import (
    DAYS,
    MAX_MISSED,
    check_times,
    cron_of,
    missed_between,
    next_time,
    times_in_words,
    weekly_of,
)


def test_when_it_is_due(subtests: pytest.Subtests) -> None:
    cases = [
        ("30 6 * * 1-5", "UTC", "2026-01-02T07:00", "2026-01-05T06:30"),
        ("30 6 * * MON-FRI", "Europe/Berlin", "2026-01-05T00:00", "2026-01-05T05:30"),
        ("*/15 * * * *", "UTC", "2026-01-05T00:15", "2026-01-05T00:30"),
        ("0 0 L * *", "UTC", "2026-02-01T00:00", "2026-02-28T00:00"),
        # Summer time begins: half past two does not exist and comes at three.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-29T01:00"),
        # It ends: half past two comes twice, and once is enough.
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30", "2026-10-26T01:30"),
    ]
    for cron, zone, after, due in cases:
        with subtests.test(after=after):
            moment = next_time(
                check_times(cron, zone), zone, datetime.fromisoformat(after + "+00:00")
            )
            assert moment == datetime.fromisoformat(due + "+00:00")


def test_what_is_no_schedule(subtests: pytest.Subtests) -> None:
    cases = [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("0 * * * * *", "five fields"),
        ("@daily", "five fields"),
        ("60 * * * *", "Bad minute"),
        ("x * * * *", "Bad minute"),
        ("0 0 31 2 *", "Bad day-of-month"),
        ("* * * * *", "every 5 minutes at most"),
        ("0,1 0 1 1 *", "every 5 minutes at most"),
        ("59,0 * * * *", "every 5 minutes at most"),
    ]
    for cron, said in cases:
        with subtests.test(cron=cron), pytest.raises(Invalid, match=said):
            check_times(cron, "UTC")


@pytest.mark.parametrize("zone", ["", "Europe/Atlantis", "../etc/passwd", "/etc/passwd"])
def test_what_is_no_time_zone(zone: str) -> None:
    with pytest.raises(Invalid, match="time zone does not exist"):
        check_times("0 0 * * *", zone)


def test_what_was_missed_is_counted_and_bounded() -> None:
    since = datetime(2026, 1, 5, 6, 30, tzinfo=UTC)
    assert missed_between("30 6 * * *", "UTC", since, datetime(2026, 1, 5, 7, tzinfo=UTC)) == 0
    assert missed_between("30 6 * * *", "UTC", since, datetime(2026, 1, 8, 7, tzinfo=UTC)) == 3
    due = datetime(2026, 1, 6, 6, 30, tzinfo=UTC)
    assert missed_between("30 6 * * *", "UTC", since, due) == 1
    years = datetime(2036, 1, 1, tzinfo=UTC)
    assert missed_between("30 6 * * *", "UTC", since, years) == MAX_MISSED


def test_days_and_a_time_are_told_in_words(subtests: pytest.Subtests) -> None:
    cases = [
        ("30 6 * * *", [*DAYS], "Every day at 06:30 (Europe/Berlin)"),
        ("0 17 * * 1-5", [*DAYS[:5]], "Monday to Friday at 17:00 (Europe/Berlin)"),
        ("5 9 * * 0,3", ["3", "0"], "Wednesdays and Sundays at 09:05 (Europe/Berlin)"),
        ("5 9 * * 7", ["0"], "Sundays at 09:05 (Europe/Berlin)"),
    ]
    for cron, days, words in cases:
        with subtests.test(cron=cron):
            assert weekly_of(cron) == (days, words.split(" at ")[1][:5])
            assert times_in_words(cron, "Europe/Berlin") == words
            assert weekly_of(cron_of(days, words.split(" at ")[1][:5])) == weekly_of(cron)
    for cron in ("0 6 1 * *", "*/15 * * * *", "0 6 * * 5-1", "0 6 * * MON", "0 24 * * 1"):
        with subtests.test(cron=cron):
            assert weekly_of(cron) is None
            assert times_in_words(cron, "UTC") == f"{cron} in UTC"
