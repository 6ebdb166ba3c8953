"""The skills of a project or session: of the repository there, and of the team."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opencode_web.lib.compiled import CompiledQuery
from sessions.config.effective import project_config
from sessions.config.model import Config
from sessions.models import Project, Session, TeamSkill
from sessions.repository.problems import Problem
from sessions.repository.skill_indexes import base_of, known_indexes
from sessions.repository.skills import Skill, SkillSet, load_skills
from sessions.repository.trust import files_of
from sessions.secrets import project_redactor
from tools.redaction import Redactor

_OF_TEAM = CompiledQuery(
    lambda team_id: TeamSkill.objects.filter(team=team_id).order_by("name"), str
)


def team_skills(team_id: str) -> list[Skill]:
    """Returns: the skills that every project of a team has. One query."""
    return [Skill(row.name, row.description, row.text) for row in _OF_TEAM.all(team_id)]


def shared_skills(team_id: str, config: Config) -> list[Skill]:
    """Returns: those of the team, then those behind the addresses of the settings, as last read.

    Who may change a page of the web cannot take the place of a skill of the team.
    """
    found = team_skills(team_id)
    for index in known_indexes(team_id, config.skills.urls):
        found += [
            Skill(one["name"], one["description"], one["text"], address=one["address"])
            for one in index.skills
        ]
    return found


def project_skills(project: Project) -> SkillSet:
    """Returns: the skills of a project's folder and of its team, and what is wrong with others."""
    return _load(project, project.directory, project_config(project))


def session_skills(session: Session, config: Config) -> SkillSet:
    """Like `project_skills`, in the folder that a session works in, where `config` is in force."""
    return _load(session.project, files_of(session), config)


def folder_skills(project: Project, directory: str) -> SkillSet:
    """Like `project_skills`, in a worktree of the project."""
    return _load(project, directory, project_config(project, directory))


def _load(project: Project, directory: str, config: Config) -> SkillSet:
    folder, urls = Path(directory), config.skills.urls
    shared = shared_skills(project.team_id, config)
    found = load_skills(folder, folder, paths=config.skills.paths, team=shared)
    said = tuple(
        Problem(base_of(index.url), str(problem))
        for index in known_indexes(project.team_id, urls)
        for problem in index.problems
    )
    redactor = project_redactor(project.pk)
    skills = {name: _masked(skill, redactor) for name, skill in found.skills.items()}
    return replace(found, skills=skills, problems=(*found.problems, *said))


def _masked(skill: Skill, redactor: Redactor) -> Skill:
    text, description = redactor.text(skill.text), redactor.text(skill.description)
    return replace(skill, text=text, description=description)
