from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.runner import run_session
from sessions.runner.calls import tool_calls
from sessions.runner.turn import provider_turn, start
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash
from tests.sessions.runner.statements import recorded_statements


async def _fewest(alice: User, session: Session) -> int:
    """Some statements are made by the clock."""
    return min([await _statements(alice, session) for _ in range(4)])


async def _statements(alice: User, session: Session) -> int:
    text = script([{"tool": "bash", "input": {"command": "true"}}], [{"text": "x"}])
    await in_db(prompt, alice, session, text)
    with recorded_statements() as statements:
        await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    return len(statements)


async def test_a_turn_without_plugins_asks_the_database_nothing_about_them(
    alice: User, session: Session, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FLUSH_S = 60  # a slow machine writes a growing text in between
    monkeypatch.setattr("teams.announcements.KEPT_S", 600)
    await in_db(allow_bash, session)
    await _statements(alice, session)  # the first one also makes the context epoch
    with_feature = await _fewest(alice, session)

    async def unchanged(turn: Any, lease: Any) -> Any:
        return turn

    monkeypatch.setattr(provider_turn, "with_plugins", unchanged)
    monkeypatch.setattr(start, "message_hook_wanted", lambda session, config: None)
    monkeypatch.setattr(tool_calls, "session_plugins", lambda session, brought, turn: None)
    assert await _fewest(alice, session) == with_feature
