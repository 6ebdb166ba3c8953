"""The skills of a repository and of its team: instructions for tasks of a kind, read on demand.

Source: behaviour facts 6.3: folders with a SKILL.md below `.opencode/skill(s)`, `.claude/skills`
and `.agents/skills`, in every folder from the working directory up to the root of the worktree, and
below those that the settings name under `skills.paths`. One without a name does not count; one
without a description can be loaded and is not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opencode_web.lib.json import JsonObject
from sessions.repository.front_matter import BrokenHead, split_front_matter
from sessions.repository.globs import find_files
from sessions.repository.problems import Problem
from sessions.repository.reading import Unavailable, folders_upward, read_instructions

MAX_SKILLS = 64
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1024
FOLDERS = (".opencode/skill", ".opencode/skills", ".claude/skills", ".agents/skills")
# In place of a path, for the skills of a team.
TEAM = "<team>"


@dataclass(frozen=True)
class Skill:
    """`folder` is where its other files lie; None for a team's and for one from the web, which are
    a text alone. `address` is where the latter is from."""

    name: str
    description: str
    text: str
    folder: Path | None = None
    address: str = ""

    @property
    def location(self) -> str:
        """Where it is from: the absolute path of its SKILL.md, its address, or `<team>`."""
        if self.folder is not None:
            return str(self.folder / "SKILL.md")
        return self.address or TEAM


@dataclass(frozen=True)
class SkillSet:
    """Skills by name, in the order of the names, and what is wrong with others."""

    skills: Mapping[str, Skill]
    problems: tuple[Problem, ...] = ()
    # Locations of files that are there and cannot be read just now.
    unavailable: frozenset[str] = frozenset()


@dataclass
class _Found:
    skills: dict[str, Skill]
    problems: list[Problem] = field(default_factory=list)
    unavailable: set[str] = field(default_factory=set)


def load_skills(
    worktree: Path,
    directory: Path,
    *,
    paths: Iterable[str] = (),
    team: Sequence[Skill] = (),
) -> SkillSet:
    """Find the skills that agents in `directory` have.

    Nobody who may write to a repository can take the place of a skill of the team; of two in the
    repository the nearer counts.
    """
    found = _Found({})
    for skill in team:
        found.skills.setdefault(skill.name, skill)
    for path in _skill_files(worktree, directory, paths):
        if len(found.skills) >= MAX_SKILLS + len(team):
            found.problems.append(Problem(str(path), f"There are more than {MAX_SKILLS} skills."))
            break
        _take(found, worktree, path)
    ordered = dict(sorted(found.skills.items()))
    return SkillSet(ordered, tuple(found.problems), frozenset(found.unavailable))


def _skill_files(worktree: Path, directory: Path, paths: Iterable[str]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in _candidates(worktree, directory, paths):
        if path not in seen:
            seen.add(path)
            yield path


def _candidates(worktree: Path, directory: Path, paths: Iterable[str]) -> Iterator[Path]:
    for folder in folders_upward(directory, worktree):
        for name in FOLDERS:
            yield from find_files(folder, f"{name}/**/SKILL.md")
    for given in paths:
        # Nothing outside of the worktree is read, whatever the settings name.
        if not given.startswith(("/", "~")):
            yield from find_files(worktree, f"{given}/**/SKILL.md")


def _take(found: _Found, worktree: Path, path: Path) -> None:
    shown = path.relative_to(worktree).as_posix()
    try:
        text = read_instructions(worktree, path)
    except Unavailable:
        found.unavailable.add(str(path))
        found.problems.append(Problem(shown, "It cannot be read now."))
        return
    if text is None:
        return
    try:
        head, body = split_front_matter(text)
    except BrokenHead as exc:
        found.problems.append(Problem(shown, f"Its head is broken: {exc}."))
        return
    name = _line(head, "name", MAX_NAME_CHARS)
    if not name:
        found.problems.append(Problem(shown, "It has no name."))
        return
    skill = Skill(name, _line(head, "description", MAX_DESCRIPTION_CHARS), body, path.parent)
    other = found.skills.setdefault(skill.name, skill)
    if other is not skill:
        by = "the team has one" if other.location == TEAM else f"it is in {other.location}"
        found.problems.append(Problem(shown, f"There is another skill {skill.name}: {by}."))


def _line(head: JsonObject, key: str, limit: int) -> str:
    value = head.get(key)
    return " ".join(str(value).split())[:limit] if isinstance(value, str | int | float) else ""
