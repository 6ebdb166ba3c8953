from __future__ import annotations

import pytest

from sessions.stream import quota
from sessions.stream.quota import Allowance, Window


def test_a_window_is_full_until_the_client_has_taken_some() -> None:
    window = Window()
    window.sent(quota.WINDOW_UNITS)
    assert not window.has_room()
    window.taken(1)
    assert window.has_room()
    # Who claims more than was sent gains nothing by it.
    window.taken(10 * quota.WINDOW_UNITS)
    window.sent(quota.WINDOW_UNITS)
    assert not window.has_room()


def test_an_allowance_fills_with_time_up_to_its_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    room = Allowance()
    room.sent(quota.BURST_UNITS)
    assert not room.has_room()
    room.taken(quota.BURST_UNITS)
    assert not room.has_room()
    now += 1
    assert room.has_room()
    room.sent(quota.UNITS_PER_S)
    assert not room.has_room()
    now += 3_600
    assert room.has_room()
    room.sent(quota.BURST_UNITS)
    assert not room.has_room()
