from __future__ import annotations

from pathlib import Path

import pytest

from sessions.repository import skills
from sessions.repository.globs import forget_found
from sessions.repository.reading import Unavailable
from sessions.repository.skills import Skill
from sessions.runner.context.skills import SOURCE
from tests.sessions.runner.context.inputs import make_inputs
from tools.permissions.config import parse_ruleset
from tools.permissions.defaults import DEFAULTS


@pytest.fixture(autouse=True)
def look_anew() -> None:
    forget_found()


def write(path: Path, head: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{head}\n---\nbody")


@pytest.mark.parametrize(
    "folder",
    [
        ".opencode/skill/release",
        ".opencode/skills/deep/er",
        ".claude/skills/release",
        ".agents/skills/release",
    ],
)
def test_it_lists_a_skill_from_each_folder(tmp_path: Path, folder: str) -> None:
    write(tmp_path / folder / "SKILL.md", "name: release\ndescription: Makes a release.")
    found = SOURCE.observe(make_inputs(tmp_path), None)
    assert found is not None
    line = f"- release: Makes a release. (in {tmp_path}/{folder}/SKILL.md)"
    assert SOURCE.baseline(found).endswith(f"\n\n{line}")
    assert SOURCE.update([], found).endswith(f"\n\n{line}")


def test_skills_are_in_the_order_of_their_names_and_the_nearest_counts(tmp_path: Path) -> None:
    near = tmp_path / "api"
    write(near / ".claude/skills/x/SKILL.md", "name: b\ndescription: near")
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: b\ndescription: far")
    write(tmp_path / ".claude/skills/y/SKILL.md", "name: a\ndescription: other")
    write(tmp_path / ".claude/skills/z/SKILL.md", "description: without a name")
    write(tmp_path / ".claude/skills/q/SKILL.md", "name: without-a-description")
    found = SOURCE.observe(make_inputs(tmp_path, directory=near), None) or []
    assert [(skill.name, skill.description) for skill in found] == [("a", "other"), ("b", "near")]


def test_without_skills_nothing_is_told(tmp_path: Path) -> None:
    assert SOURCE.observe(make_inputs(tmp_path), None) is None


def test_a_skill_is_not_read_through_a_link_out_of_the_worktree(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "name: secret\ndescription: the server's")
    inside = tmp_path / "shop" / ".claude/skills/x"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").symlink_to(tmp_path / "secret.md")
    assert SOURCE.observe(make_inputs(tmp_path / "shop"), None) is None


def test_it_lists_the_skills_of_the_team_and_none_that_a_rule_denies(tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: deploy\ndescription: Deploys.")
    denied = DEFAULTS + parse_ruleset({"skill": {"deploy": "deny"}})
    team = [Skill("release", "Makes a release.", "text")]
    inputs = make_inputs(tmp_path, team_skills=team, ruleset=denied)
    found = SOURCE.observe(inputs, None) or []
    assert [(skill.name, skill.location) for skill in found] == [("release", "<team>")]


def test_without_the_tool_nothing_is_listed(tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: deploy\ndescription: Deploys.")
    inputs = make_inputs(tmp_path, ruleset=DEFAULTS + parse_ruleset({"skill": "deny"}))
    assert SOURCE.observe(inputs, None) is None


def test_a_skill_that_cannot_be_read_now_stays_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: deploy\ndescription: Deploys.")
    inputs = make_inputs(tmp_path)
    known = SOURCE.observe(inputs, None)

    def fail(root: Path, path: Path) -> str:
        raise Unavailable(str(path))

    monkeypatch.setattr(skills, "read_instructions", fail)
    assert SOURCE.observe(inputs, known) == known
    assert SOURCE.observe(inputs, None) is None
