"""`core/skills`: the skills of a repository, by name and purpose; their texts are read on demand.

Source: behaviour facts 6.3: folders with a SKILL.md below `.opencode/skill(s)`, `.claude/skills`
and `.agents/skills`, in every folder from the working directory up to the root of the worktree. One
without a name does not count, and one without a description is not listed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import TypeAdapter

from sessions.events.messages import Frozen
from sessions.runner.context.documents import defuse
from sessions.runner.context.files import read_instructions
from sessions.runner.context.globs import find_files
from sessions.runner.context.instructions import folders_upward
from sessions.runner.context.source import Place, Source, Unavailable

MAX_SKILLS = 64
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1024
PATTERNS = (
    ".opencode/skill/**/SKILL.md",
    ".opencode/skills/**/SKILL.md",
    ".claude/skills/**/SKILL.md",
    ".agents/skills/**/SKILL.md",
)
_INTRO = (
    "This repository has skills: instructions for tasks of a certain kind. When a task fits the "
    "description of one, read its file before you begin, and resolve paths in it from its folder."
)


class Skill(Frozen):
    """What the listing says of a skill; `location` is the absolute path of its SKILL.md."""

    name: str
    description: str
    location: str


Skills = list[Skill]


def _observe(place: Place, known: Skills | None) -> Skills | None:
    earlier = {skill.location: skill for skill in known or ()}
    found: dict[str, Skill] = {}
    for skill in _read_all(place, earlier):
        # The nearest of a name counts.
        found.setdefault(skill.name, skill)
    return sorted(found.values(), key=lambda skill: skill.name)[:MAX_SKILLS] or None


def _read_all(place: Place, earlier: dict[str, Skill]) -> Iterator[Skill]:
    for folder in folders_upward(place):
        for pattern in PATTERNS:
            for path in find_files(folder, pattern):
                try:
                    text = read_instructions(place.worktree, path)
                except Unavailable:
                    if str(path) in earlier:
                        yield earlier[str(path)]
                    continue
                head = parse_front_matter(text or "")
                name, description = head.get("name", ""), head.get("description", "")
                if name and description:
                    yield Skill(
                        name=name[:MAX_NAME_CHARS],
                        description=description[:MAX_DESCRIPTION_CHARS],
                        location=str(path),
                    )


def parse_front_matter(text: str) -> dict[str, str]:
    """Read the plain values between the first two `---`: one line, quoted, or a block after | or >.

    Returns: each value as one line. Whatever else YAML can do is left out.
    """
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    values: dict[str, str] = {}
    key = ""
    for line in lines[1:]:
        if line.strip() == "---":
            return {name: " ".join(value.split()) for name, value in values.items()}
        if line[:1].isspace() and key:
            values[key] += f" {line.strip()}"
            continue
        name, separator, value = line.partition(":")
        if separator and not line.lstrip().startswith("#"):
            key, value = name.strip(), value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            values[key] = "" if value in {"|", ">", "|-", ">-", "|+", ">+"} else value
    return {}


def _list(skills: Skills) -> str:
    return "\n".join(
        f"- {defuse(skill.name)}: {defuse(skill.description)} (in {defuse(skill.location)})"
        for skill in skills
    )


def _update(_old: Skills, new: Skills) -> str:
    return f"The skills of this repository have changed. There are now these only:\n\n{_list(new)}"


SOURCE: Source[Skills] = Source(
    key="core/skills",
    type=TypeAdapter(Skills),
    observe=_observe,
    baseline=lambda skills: f"{_INTRO}\n\n{_list(skills)}",
    update=_update,
    removal=lambda _old: "This repository has no skills any more.",
)
