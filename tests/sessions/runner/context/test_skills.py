from __future__ import annotations

from pathlib import Path

import pytest

from sessions.runner.context.globs import forget_found
from sessions.runner.context.skills import SOURCE, parse_front_matter
from tests.sessions.runner.context.places import make_place


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
    found = SOURCE.observe(make_place(tmp_path), None)
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
    found = SOURCE.observe(make_place(tmp_path, directory=near), None) or []
    assert [(skill.name, skill.description) for skill in found] == [("a", "other"), ("b", "near")]


def test_without_skills_nothing_is_told(tmp_path: Path) -> None:
    assert SOURCE.observe(make_place(tmp_path), None) is None


def test_a_skill_is_not_read_through_a_link_out_of_the_worktree(tmp_path: Path) -> None:
    write(tmp_path / "secret.md", "name: secret\ndescription: the server's")
    inside = tmp_path / "shop" / ".claude/skills/x"
    inside.mkdir(parents=True)
    (inside / "SKILL.md").symlink_to(tmp_path / "secret.md")
    assert SOURCE.observe(make_place(tmp_path / "shop"), None) is None


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("name: a\ndescription: b: c", {"name": "a", "description": "b: c"}),
        ("name: \"a\"\ndescription: 'b'", {"name": "a", "description": "b"}),
        ("description: >\n  one\n  two\nname: a", {"description": "one two", "name": "a"}),
        ("description: |-\n  one\n\n  two", {"description": "one two"}),
        ("# name: a\nname: b", {"name": "b"}),
        ("tags:\n  - x", {"tags": "- x"}),
    ],
)
def test_front_matter(head: str, values: dict[str, str]) -> None:
    assert parse_front_matter(f"---\n{head}\n---\nname: in the body") == values


@pytest.mark.parametrize("text", ["", "name: a", "---\nname: a\nand no end"])
def test_text_without_front_matter(text: str) -> None:
    assert parse_front_matter(text) == {}
