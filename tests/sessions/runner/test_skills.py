from __future__ import annotations

from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


async def test_feat2_fr_07_an_agent_loads_a_skill_of_the_repository(
    session: Session, alice: User
) -> None:
    folder = Path(session.project.directory, ".opencode/skills/release")
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: release\ndescription: d\n---\nTag it.\n")
    calls = [{"tool": "skill", "input": {"name": "release"}}]
    await in_db(prompt, alice, session, script(calls))
    await drain(session)
    [part] = await in_db(parts_of, session, "tool")
    assert part["state"]["status"] == "completed"
    assert "# Skill: release\n\nTag it.\n" in part["state"]["output"]
