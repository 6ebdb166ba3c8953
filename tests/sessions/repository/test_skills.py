from __future__ import annotations

from pathlib import Path

import pytest

from sessions.repository.skills import MAX_SKILLS, Skill, load_skills


def write(path: Path, head: str, body: str = "body") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{head}\n---\n{body}\n")


def test_a_skill_has_its_text_and_its_folder(tmp_path: Path) -> None:
    write(tmp_path / ".opencode/skills/r/SKILL.md", "name: release\ndescription: d", "Do it.")
    skill = load_skills(tmp_path, tmp_path).skills["release"]
    assert (skill.text, skill.folder) == ("Do it.", tmp_path / ".opencode/skills/r")
    assert skill.location == str(tmp_path / ".opencode/skills/r/SKILL.md")


def test_settings_name_other_folders_inside_the_worktree_only(tmp_path: Path) -> None:
    shop, outside = tmp_path / "shop", tmp_path / "outside"
    write(shop / "docs/skills/a/SKILL.md", "name: a")
    write(outside / "b/SKILL.md", "name: b")
    paths = ["docs/skills", "../outside", str(outside), "~/x"]
    assert list(load_skills(shop, shop, paths=paths).skills) == ["a"]


def test_the_team_has_the_last_word_and_the_other_is_reported(tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: release", "evil")
    found = load_skills(tmp_path, tmp_path, team=[Skill("release", "d", "ours")])
    assert found.skills["release"].text == "ours"
    assert [(one.path, one.reason) for one in found.problems] == [
        (".claude/skills/x/SKILL.md", "There is another skill release: the team has one.")
    ]


def test_of_two_in_a_repository_the_nearer_counts(tmp_path: Path) -> None:
    near = tmp_path / "api"
    write(near / ".claude/skills/x/SKILL.md", "name: b", "near")
    write(tmp_path / ".claude/skills/x/SKILL.md", "name: b", "far")
    found = load_skills(tmp_path, near)
    assert found.skills["b"].text == "near"
    [problem] = found.problems
    assert problem.path == ".claude/skills/x/SKILL.md"
    assert "api/.claude/skills/x/SKILL.md" in problem.reason


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("description: d", "It has no name."),
        ("name: [a", "Its head is broken: line 3:"),
        ("name: {a: b}", "It has no name."),
    ],
)
def test_one_that_is_wrong_is_reported(tmp_path: Path, head: str, reason: str) -> None:
    write(tmp_path / ".agents/skills/x/SKILL.md", head)
    found = load_skills(tmp_path, tmp_path)
    assert found.skills == {}
    assert found.problems[0].reason.startswith(reason)


def test_there_are_so_many_at_most(tmp_path: Path) -> None:
    for number in range(MAX_SKILLS + 3):
        write(tmp_path / f".claude/skills/{number:03}/SKILL.md", f"name: s{number}")
    found = load_skills(tmp_path, tmp_path)
    assert len(found.skills) == MAX_SKILLS
    assert found.problems[-1].reason == f"There are more than {MAX_SKILLS} skills."
