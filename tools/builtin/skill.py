from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from opencode_web.lib.json import JsonObject
from opencode_web.lib.marks import defuse
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, SkillText, ToolContext
from tools.files.ordered_search import list_files
from tools.paths import locate

MAX_FILES = 10
_MAX_NAMES = 50
_FRAMES = ("skill_content",)


class SkillParams(Params):
    """Which skill to load."""

    name: str = Field(description="Its name, as it is listed.", min_length=1, max_length=200)


async def run(params: SkillParams, context: ToolContext) -> ToolResult:
    """Give the text of a skill, and some of the files beside it.

    Source: behaviour facts 1.13.
    """
    skills = await context.skills()
    skill = next((one for one in skills if one.name == params.name), None)
    if skill is None:
        raise ToolError(_unknown(params.name, skills))
    await context.ask(PermissionAsk("skill", (skill.name,), always=(skill.name,)))
    files = await _files(skill.folder, context) if skill.folder else []
    metadata: JsonObject = {"name": skill.name, "dir": str(skill.folder or "")}
    return ToolResult(f"Loaded skill: {skill.name}", _render(skill, files), metadata)


def _unknown(name: str, skills: Sequence[SkillText]) -> str:
    names = [skill.name for skill in skills]
    shown = ", ".join(names[:_MAX_NAMES]) or "none"
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f'Skill "{name}" not found. Available skills: {shown}{more}'


async def _files(folder: Path, context: ToolContext) -> list[str]:
    located = locate(context, str(folder))
    found, _ = await list_files(located, ["--hidden", "--glob=!SKILL.md"], limit=MAX_FILES)
    return [str(file.path) for file in found]


def base_lines(folder: Path) -> list[str]:
    """Returns: what is said behind the text of a skill about the files beside it."""
    return [
        "",
        f"Base directory for this skill: {folder}",
        "Relative paths in it (scripts, references) start in this folder.",
    ]


def _render(skill: SkillText, files: Sequence[str]) -> str:
    lines = [
        f'<skill_content name="{skill.name}">',
        f"# Skill: {skill.name}",
        "",
        defuse(skill.text, _FRAMES),
    ]
    if skill.folder is not None:
        lines += [
            *base_lines(skill.folder),
            "Note: file list is sampled.",
            "",
            "<skill_files>",
            *(f"<file>{file}</file>" for file in files),
            "</skill_files>",
        ]
    return "\n".join([*lines, "</skill_content>"])


TOOL = Tool("skill", SkillParams, run, "skill", load_description(__file__))
