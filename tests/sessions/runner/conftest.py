from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator

import pytest

from providers.llm.events import StreamEvent
from providers.llm.messages import ProviderRequest
from providers.testing import ScriptedProvider
from sessions.models import Session
from tests.sessions.projection import assert_log_equals_rows


@pytest.fixture(autouse=True)
def log_equals_rows(transactional_db: None) -> Iterator[None]:
    yield
    for session in Session.objects.all():
        assert_log_equals_rows(session)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[ProviderRequest]:
    """Every request that the scripted provider gets from here on."""
    seen: list[ProviderRequest] = []
    play = ScriptedProvider.stream

    def listen(
        self: ScriptedProvider, request: ProviderRequest
    ) -> AsyncGenerator[StreamEvent, None]:
        seen.append(request)
        return play(self, request)

    monkeypatch.setattr(ScriptedProvider, "stream", listen)
    return seen
