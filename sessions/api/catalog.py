from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Query, Router
from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from providers.catalog import Provider
from providers.defaults import best_model
from providers.effective import keyless_providers
from providers.kinds import ProviderKind
from providers.resolve import list_providers
from sessions.agents.loader import AgentWire, agent_to_wire, ordered_agents
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, find_location
from sessions.api.provider_list import (
    ProviderWire,
    Wanted,
    addable,
    matching,
    page_of,
    to_wire,
    visible,
    without_models,
)
from sessions.api.sign_ins import may_connect
from sessions.commands.catalog import CommandWire, command_to_wire, load_commands
from sessions.config.effective import config_data, project_config, team_data
from sessions.mcp.servers import prompts_of_servers
from sessions.repository.skills import Skill
from sessions.rules.in_force import agent_ruleset
from sessions.skills import folder_skills
from sessions.wire import API_VERSION
from teams.auth import principal_teams

router = Router(tags=["catalog"])


class Providers(TypedDict):
    all: list[Annotated[JsonObject, Unchecked(ProviderWire)]]
    default: dict[str, str]
    connected: list[str]


class UsableProviders(TypedDict):
    providers: list[Annotated[JsonObject, Unchecked(ProviderWire)]]
    default: dict[str, str]


class SkillWire(TypedDict):
    name: str
    description: str
    location: str
    content: str


class Health(TypedDict):
    healthy: Literal[True]
    version: str


@router.get("/global/health", auth=None, summary="Whether the server answers")
def health(request: ApiRequest) -> Health:
    return {"healthy": True, "version": API_VERSION}


@router.get("/agent", summary="Agents that can be chosen in a project")
def list_agents(request: ApiRequest) -> list[AgentWire]:
    location = find_location(request)
    if location is None:
        return []
    project, config = location.project, project_config(location.project, location.folder)
    return [
        agent_to_wire(agent, agent_ruleset(project, agent, config, location.folder))
        for agent in ordered_agents(config)
    ]


@router.get("/provider", summary="Providers of the team, and which of them can be used now")
def get_providers(
    request: ApiRequest,
    response: HttpResponse,
    limit: Annotated[int, Query(ge=0, description="Providers of a page; 0 for all")] = 0,
    cursor: Annotated[str, Query(description="X-Next-Cursor of the page before")] = "",
    query: Annotated[str, Query(description="Words in names and ids of providers or models")] = "",
    connected: Annotated[bool, Query(description="Only those that can be used now")] = False,
) -> Providers:
    return list_providers_for(request, response, Wanted(limit, cursor, query, connected))


def list_providers_for(request: ApiRequest, response: HttpResponse, wanted: Wanted) -> Providers:
    """Returns: providers; unless it is searched, those not to be used have their default alone."""
    providers, usable = _providers(request)
    ids = {one.id for one in usable}
    if wanted.connected:
        providers = usable
    elif may_connect(request):
        providers = [*providers, *addable(providers)]
    if wanted.query:
        providers = matching(providers, wanted.query)
    page = page_of(request, response, providers, wanted)
    if not wanted.query:
        page = [one if one.id in ids or not one.models else without_models(one) for one in page]
    return {
        "all": [to_wire(provider) for provider in page],
        "default": _defaults(page),
        "connected": [provider.id for provider in page if provider.id in ids],
    }


@router.get("/config/providers", summary="Providers that can be used now")
def get_usable_providers(request: ApiRequest) -> UsableProviders:
    _, connected = _providers(request)
    return {
        "providers": [to_wire(provider) for provider in connected],
        "default": _defaults(connected),
    }


def _providers(request: ApiRequest) -> tuple[list[Provider], list[Provider]]:
    """All, and those that have what they need; the scripted demo last, as nobody's first choice."""
    location, user = find_location(request), request.auth.user
    if location is not None:
        data = config_data(location.project)
        providers = list_providers(location.project.team, data, user=user)
    else:
        team = next(iter(principal_teams(request.auth)), None)
        providers = list_providers(team, team_data(team), user=user) if team else []
    providers = visible(providers)
    keyless = keyless_providers(providers)
    providers.sort(key=lambda one: one.kind is ProviderKind.SCRIPTED)
    return providers, [one for one in providers if one.id not in keyless]


def _defaults(providers: list[Provider]) -> dict[str, str]:
    return {one.id: best_model(one).id for one in providers if one.models}


# Clients ask for these when they start; what they would list is not offered.


@router.get("/command", summary="Slash commands")
def list_commands(request: ApiRequest) -> list[CommandWire]:
    location = find_location(request)
    if location is None:
        return []
    skills = _skills(location)
    config = project_config(location.project, location.folder)
    prompts = prompts_of_servers(location.project, config.mcp, location.user_id)
    commands = load_commands(config, skills, prompts)
    return [command_to_wire(command) for command in commands.values()]


def _skills(location: Location) -> Iterable[Skill]:
    folder = location.folder or location.project.directory
    return folder_skills(location.project, folder).skills.values()


@router.get("/skill", summary="Skills of a project and of its team")
def list_skills(request: ApiRequest) -> list[SkillWire]:
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
