from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_urls(settings: object) -> None:
    # Without the apps above, so that a fault up there does not hide one here.
    settings.ROOT_URLCONF = "tests.teams.urls"  # type: ignore[attr-defined]
