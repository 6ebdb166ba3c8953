from __future__ import annotations

from collections.abc import Iterator

import pytest

from sessions.models import Session
from tests.sessions.projection import assert_log_equals_rows


@pytest.fixture(autouse=True)
def log_equals_rows(transactional_db: None) -> Iterator[None]:
    yield
    for session in Session.objects.all():
        assert_log_equals_rows(session)
