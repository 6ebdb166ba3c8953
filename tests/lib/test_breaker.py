from __future__ import annotations

import pytest

from opencode_web.lib import breaker
from opencode_web.lib.breaker import Breaker


def test_a_service_that_failed_is_left_alone_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(breaker.time, "monotonic", lambda: now)
    service = Breaker(rest_s=3)
    assert not service.is_open
    service.trip()
    assert service.is_open
    now = 103.0
    assert not service.is_open
