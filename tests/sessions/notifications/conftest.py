from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from opencode_web.lib import outbound
from tests.sessions.push_service import PushService, run_push_service


@pytest.fixture
def push_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PushService]:
    with run_push_service(tmp_path) as (service, trusting):
        monkeypatch.setattr(outbound, "ssl_context", lambda: trusting)
        yield service
        assert service.faults == []
