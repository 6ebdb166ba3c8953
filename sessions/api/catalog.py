from __future__ import annotations

from collections.abc import Iterable

from ninja import Router

from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import Provider
from providers.effective import keyless_providers
from providers.kinds import ProviderKind
from providers.resolve import best_model, list_providers
from sessions.agents.loader import agent_to_wire, ordered_agents
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, find_location
from sessions.commands.catalog import command_to_wire, load_commands
from sessions.effective_config import config_data, project_config, team_data
from sessions.mcp_servers import prompts_of_servers
from sessions.public_config import public_provider
from sessions.repository.skills import Skill
from sessions.rules import agent_ruleset
from sessions.skills import folder_skills
from sessions.wire import API_VERSION
from teams.auth import principal_teams

router = Router(tags=["catalog"])


@router.get("/global/health", auth=None, summary="Whether the server answers")
def health(request: ApiRequest) -> JsonObject:
    return {"healthy": True, "version": API_VERSION}


@router.get("/agent", summary="Agents that can be chosen in a project")
def list_agents(request: ApiRequest) -> list[JsonObject]:
    location = find_location(request)
    if location is None:
        return []
    project, config = location.project, project_config(location.project, location.folder)
    return [
        agent_to_wire(agent, agent_ruleset(project, agent, config, location.folder))
        for agent in ordered_agents(config)
    ]


@router.get("/provider", summary="Providers of the team, and which of them can be used now")
def get_providers(request: ApiRequest) -> JsonObject:
    providers, connected = _providers(request)
    return {
        "all": [_public(provider) for provider in providers],
        "default": _defaults(providers),
        "connected": [provider.id for provider in connected],
    }


@router.get("/config/providers", summary="Providers that can be used now")
def get_usable_providers(request: ApiRequest) -> JsonObject:
    _, connected = _providers(request)
    return {
        "providers": [_public(provider) for provider in connected],
        "default": _defaults(connected),
    }


def _public(provider: Provider) -> JsonObject:
    return public_provider(provider.id, provider.to_wire())


def _providers(request: ApiRequest) -> tuple[list[Provider], list[Provider]]:
    """All, and those that have what they need; the scripted demo last, as nobody's first choice."""
    location, user = find_location(request), request.auth.user
    if location is not None:
        data = config_data(location.project)
        providers = list_providers(location.project.team, data, user=user)
    else:
        team = next(iter(principal_teams(request.auth)), None)
        providers = list_providers(team, team_data(team), user=user) if team else []
    keyless = keyless_providers(providers)
    providers.sort(key=lambda one: one.kind is ProviderKind.SCRIPTED)
    return providers, [one for one in providers if one.id not in keyless]


def _defaults(providers: list[Provider]) -> dict[str, JsonValue]:
    return {provider.id: best_model(provider).id for provider in providers}


# Clients ask for these when they start; what they would list is not offered.


@router.get("/command", summary="Slash commands")
def list_commands(request: ApiRequest) -> list[JsonObject]:
    location = find_location(request)
    if location is None:
        return []
    skills = _skills(location)
    config = project_config(location.project, location.folder)
    prompts = prompts_of_servers(location.project, config.mcp)
    commands = load_commands(config, skills, prompts)
    return [command_to_wire(command) for command in commands.values()]


def _skills(location: Location) -> Iterable[Skill]:
    folder = location.folder or location.project.directory
    return folder_skills(location.project, folder).skills.values()


@router.get("/skill", summary="Skills of a project and of its team")
def list_skills(request: ApiRequest) -> list[JsonObject]:
    location = find_location(request)
    if location is None:
        return []
    skills = _skills(location)
    return [
        {
            "name": skill.name,
            "description": skill.description,
            "location": skill.location,
            "content": skill.text,
        }
        for skill in skills
    ]
