from __future__ import annotations

from pathlib import Path

import pytest

from sessions.agents.loader import load_agents
from sessions.config.effective import project_config
from sessions.models import Project
from sessions.rules.in_force import agent_ruleset
from teams.models import Team
from tests.sessions.factories import make_project
from tools.permissions.rules import Action, evaluate

pytestmark = pytest.mark.django_db
RULES = {"bash": {"git *": "allow", "*": "deny", "ls": "ask"}, "edit": "ask", "a": "deny"}


def test_settings_come_back_in_the_order_in_which_they_were_written(
    team: Team, tmp_path: Path
) -> None:
    project = make_project(team, tmp_path / "shop")
    for row in (team, project):
        row.config = {"permission": RULES, "model": None, "n": [1, {"b": 1, "a": 2}]}
        row.save()
        row.refresh_from_db()
        assert list(row.config) == ["permission", "model", "n"]
        assert list(row.config["permission"]) == ["bash", "edit", "a"]
        assert list(row.config["permission"]["bash"]) == ["git *", "*", "ls"]
        assert row.config["n"] == [1, {"b": 1, "a": 2}]


def test_the_last_rule_that_was_written_decides(team: Team, tmp_path: Path) -> None:
    project = make_project(team, tmp_path / "shop")
    project.config = {"permission": RULES}
    project.save()
    project = Project.objects.get(pk=project.pk)
    config = project_config(project)
    ruleset = agent_ruleset(project, load_agents(config)["build"], config)
    assert evaluate("bash", "git push", ruleset) is Action.DENY
    assert evaluate("bash", "ls", ruleset) is Action.ASK
