from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from sessions.models import NotificationKind
from sessions.notifications.choices import KEY, ChannelChoice, Choices
from teams.models import User

NIGHT = Choices(zone="Europe/Berlin", quiet_from=time(22), quiet_until=time(7))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_what_is_held_back_until_when(subtests: pytest.Subtests) -> None:
    daily = Choices(zone="Europe/Berlin", digest_at=time(8))
    early = Choices(
        zone="Europe/Berlin", quiet_from=time(22), quiet_until=time(9), digest_at=time(8)
    )
    noon = Choices(quiet_from=time(12), quiet_until=time(13))
    # Berlin is an hour ahead of UTC in winter, and two from the night of 29 March 2026 on.
    cases = [
        ("by day", NIGHT, False, "2026-01-10T12:00", None),
        ("in the evening", NIGHT, False, "2026-01-10T21:00", "2026-01-11T06:00"),
        ("in the morning", NIGHT, False, "2026-01-10T05:59", "2026-01-10T06:00"),
        ("at the end", NIGHT, False, "2026-01-10T06:00", None),
        ("the clocks change", NIGHT, False, "2026-03-28T22:00", "2026-03-29T05:00"),
        ("a break", noon, False, "2026-01-10T12:30", "2026-01-10T13:00"),
        ("no quiet hours", Choices(), False, "2026-01-10T03:00", None),
        ("one end alone", Choices(quiet_from=time(0)), False, "2026-01-10T03:00", None),
        ("a digest", daily, True, "2026-01-10T12:00", "2026-01-11T07:00"),
        ("a digest of today", daily, True, "2026-01-10T06:59", "2026-01-10T07:00"),
        ("a digest in quiet hours", early, True, "2026-01-10T12:00", "2026-01-11T08:00"),
    ]
    for name, choices, is_daily, now, expected in cases:
        with subtests.test(name):
            held = choices.held_until(is_daily=is_daily, now=utc(now))
            assert held == (None if expected is None else utc(expected))


def test_they_are_read_as_they_were_stored() -> None:
    kinds = frozenset({NotificationKind.ASKS, NotificationKind.BUDGET})
    chosen = Choices(
        channels={"email": ChannelChoice(kinds, is_daily=True)},
        zone="Europe/Berlin",
        quiet_from=time(22, 30),
        quiet_until=time(7),
        digest_at=time(6, 15),
    )
    assert Choices.of(User(preferences={KEY: chosen.to_json()})) == chosen


def test_what_cannot_be_read_was_never_chosen(subtests: pytest.Subtests) -> None:
    for stored in (
        None,
        "x",
        {"channels": 1, "zone": "Mars/Base", "quiet_from": "25:99", "digest_at": 4},
        {"channels": {"email": []}},
    ):
        with subtests.test(stored=stored):
            assert Choices.of(User(preferences={KEY: stored})) == Choices()
    kinds = Choices.of(User(preferences={KEY: {"channels": {"email": {"kinds": ["x", "ends"]}}}}))
    assert kinds.channels["email"].kinds == {NotificationKind.ENDS}
