from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import pytest
import pytest_asyncio

from providers.llm.events import StreamEvent
from providers.llm.messages import ProviderRequest
from providers.testing import ScriptedProvider
from sessions.models import Project, Session
from sessions.runner.offers.mcp_kept import end_kept_servers
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.runner.plugin_files import Write, writer


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


@pytest_asyncio.fixture
async def write_plugin(project: Project) -> AsyncIterator[Write]:
    """What writes a plugin of the project's repository; no process of it is left behind."""
    yield writer(project)
    await end_kept_servers()
