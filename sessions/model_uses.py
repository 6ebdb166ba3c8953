"""Where a team uses a model."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from opencode_web.lib.json import JsonObject
from providers.resolve import parse_ref
from sessions.models import Project, Schedule, Session
from teams.models import Team


@dataclass(frozen=True, slots=True)
class ModelUses:
    """What names a model; sub-agents' sessions are not counted."""

    is_default: bool
    is_small: bool
    agents: list[str]
    projects: list[str]
    schedules: list[str]
    sessions: int


def load_model_uses(team: Team, name: str) -> ModelUses:
    """Look for `provider/model` in settings, schedules and sessions. Raises: Invalid."""
    ref = parse_ref(name)
    agents, projects = _agents_with(team.config, name), []
    rows = Project.objects.filter(team=team).exclude(config={})
    for title, config in rows.order_by("name").values_list("name", "config"):
        named = _agents_with(config, name)
        agents += [f"{one} ({title})" for one in named]
        if config.get("model") == name:
            projects.append(title)
    schedules = Schedule.objects.filter(project__team=team, model=name).order_by("name")
    sessions = Session.objects.filter(
        Q(model__providerID=ref.provider_id, model__id=ref.model_id),
        project__team=team,
        parent=None,
    )
    return ModelUses(
        is_default=team.config.get("model") == name,
        is_small=team.config.get("small_model") == name,
        agents=agents,
        projects=projects,
        schedules=[*schedules.values_list("name", flat=True)],
        sessions=sessions.count(),
    )


def _agents_with(config: JsonObject, name: str) -> list[str]:
    agents = config.get("agent")
    found = agents.items() if isinstance(agents, dict) else ()
    return [key for key, one in found if isinstance(one, dict) and one.get("model") == name]
