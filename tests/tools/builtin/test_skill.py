from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import FakeToolContext
from tools.base import PermissionDenied, ToolError
from tools.context import PermissionAsk, SkillText


@pytest.fixture
def folder(worktree: Path) -> Path:
    folder = worktree / ".opencode/skills/release"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: release\n---\n")
    (folder / "scripts/tag.sh").write_text("git tag")
    (folder / ".hidden").write_text("x")
    return folder


async def test_feat2_fr_07_it_gives_the_text_and_the_files_beside_it(
    context: FakeToolContext, folder: Path
) -> None:
    context.known_skills = [SkillText("release", "Tag it.\n\nThen push.", folder)]
    result = await context.call("skill", name="release")
    assert result.output == (
        '<skill_content name="release">\n# Skill: release\n\nTag it.\n\nThen push.\n\n'
        f"Base directory for this skill: {folder}\n"
        "Relative paths in it (scripts, references) start in this folder.\n"
        "Note: file list is sampled.\n\n"
        f"<skill_files>\n<file>{folder}/.hidden</file>\n<file>{folder}/scripts/tag.sh</file>\n"
        "</skill_files>\n</skill_content>"
    )
    assert result.title == "Loaded skill: release"
    assert result.metadata == {"name": "release", "dir": str(folder), "truncated": False}
    assert context.asks == [PermissionAsk("skill", ("release",), always=("release",))]


async def test_a_skill_of_the_team_is_its_text_alone(context: FakeToolContext) -> None:
    context.known_skills = [SkillText("tone", "Be brief.")]
    result = await context.call("skill", name="tone")
    assert result.output == (
        '<skill_content name="tone">\n# Skill: tone\n\nBe brief.\n</skill_content>'
    )


async def test_the_list_of_files_is_bounded(context: FakeToolContext, folder: Path) -> None:
    for number in range(30):
        (folder / f"{number:02}.txt").write_text("x")
    context.known_skills = [SkillText("release", "t", folder)]
    result = await context.call("skill", name="release")
    assert result.output.count("<file>") == 10


async def test_an_unknown_one_is_answered_with_the_names_there_are(
    context: FakeToolContext,
) -> None:
    context.known_skills = [SkillText("a", "t"), SkillText("b", "t")]
    with pytest.raises(ToolError, match=r'Skill "c" not found\. Available skills: a, b$'):
        await context.call("skill", name="c")
    context.known_skills = []
    with pytest.raises(ToolError, match="Available skills: none"):
        await context.call("skill", name="c")
    assert context.asks == []


async def test_a_denied_one_is_not_read(context: FakeToolContext, folder: Path) -> None:
    def deny(ask: PermissionAsk) -> None:
        raise PermissionDenied("no")

    context.on_ask = deny
    context.known_skills = [SkillText("release", "t", folder)]
    with pytest.raises(PermissionDenied):
        await context.call("skill", name="release")
