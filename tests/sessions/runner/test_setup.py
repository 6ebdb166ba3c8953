from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.config import effective
from sessions.models import Project, Session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def resolutions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that the settings of the session's folder are put together."""
    counted: list[str] = []
    resolve = effective.brought_by

    def counting(project: Project, directory: str = "") -> Any:
        counted.append(directory)
        return resolve(project, directory)

    monkeypatch.setattr(effective, "brought_by", counting)
    return counted


async def test_a_turn_of_text_resolves_the_settings_once(
    alice: User, session: Session, resolutions: list[str]
) -> None:
    await in_db(prompt, alice, session, script([{"text": "Done."}]))
    resolutions.clear()
    await drain(session)
    assert len(resolutions) == 1


async def test_a_step_with_calls_resolves_them_once_more_for_each_permission(
    alice: User, session: Session, resolutions: list[str]
) -> None:
    session.project.config = {"permission": {"read": "allow", "glob": "allow"}}
    await in_db(session.project.save)
    calls = [{"tool": "glob", "input": {"pattern": f"*.{end}"}} for end in ("py", "md")]
    await in_db(prompt, alice, session, script(calls, [{"text": "Done."}]))
    resolutions.clear()
    await drain(session)
    # Two turns, the step between them, and the two decisions in it.
    assert len(resolutions) == 5
