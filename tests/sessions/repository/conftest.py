from __future__ import annotations

import pytest

from sessions.repository.globs import forget_found


@pytest.fixture(autouse=True)
def look_anew() -> None:
    forget_found()
