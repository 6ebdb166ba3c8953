from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, NotRequired

from django.http import HttpResponse
from ninja import Router
from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import JsonObject, JsonValue, object_of, text_of
from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.agents.loader import AgentWire
from sessions.api import catalog as classic
from sessions.api.auth import ApiRequest
from sessions.api.location import require_location
from sessions.api.provider_list import Wanted
from sessions.api.v2.place import Place, Placed, location_to_wire, placed
from sessions.api.v2.session_answers import ModelName
from sessions.commands.catalog import CommandWire
from sessions.config.effective import project_config

router = Router(tags=["catalog"])


class HealthV2(TypedDict):
    healthy: Literal[True]


class ExtraOfRequest(TypedDict):
    headers: dict[str, str]
    body: JsonObject


class AgentRule(TypedDict):
    action: str
    resource: str
    effect: Annotated[str, Unchecked(Literal["allow", "ask", "deny"])]


class AgentV2(TypedDict):
    id: str
    mode: Literal["subagent", "primary", "all"]
    hidden: bool
    request: ExtraOfRequest
    permissions: list[AgentRule]
    model: NotRequired[ModelName | None]
    description: NotRequired[str | None]
    system: NotRequired[str | None]
    color: NotRequired[str | None]
    steps: NotRequired[int | None]


class CommandV2(TypedDict):
    name: str
    template: str
    description: NotRequired[str | None]
    agent: NotRequired[str | None]
    model: NotRequired[ModelName | None]
    subtask: NotRequired[bool | None]


class SkillV2(TypedDict):
    name: str
    description: str
    location: str
    content: str


class FolderOfReference(TypedDict):
    type: Literal["local"]
    path: str
    description: NotRequired[str | None]


class ReferenceV2(TypedDict):
    name: str
    path: str
    description: NotRequired[str | None]
    source: FolderOfReference


class ProviderApiV2(TypedDict):
    type: Literal["aisdk"]
    package: str
    url: str


class ProviderV2(TypedDict):
    id: str
    integrationID: str
    name: str
    api: ProviderApiV2
    request: ExtraOfRequest


class ModelApiV2(ProviderApiV2):
    id: str


class CapabilitiesV2(TypedDict):
    tools: bool
    input: list[str]
    output: list[str]


class VariantV2(ExtraOfRequest):
    id: str


class Released(TypedDict):
    released: int
    """Units: milliseconds since 1970; 0 when nobody knows."""


class CacheCost(TypedDict):
    read: float
    write: float


class CostV2(TypedDict):
    """Units: USD for a million tokens."""

    input: float
    output: float
    cache: CacheCost


class LimitV2(TypedDict):
    """Units: tokens."""

    context: int
    input: NotRequired[int]
    output: int


class ModelV2(TypedDict):
    id: str
    providerID: str
    family: NotRequired[str]
    name: str
    api: ModelApiV2
    capabilities: CapabilitiesV2
    request: ExtraOfRequest
    variants: list[VariantV2]
    time: Released
    cost: list[Annotated[JsonObject, Unchecked(CostV2)]]
    status: Annotated[str, Unchecked(Literal["alpha", "beta", "deprecated", "active"])]
    enabled: bool
    limit: Annotated[JsonObject, Unchecked(LimitV2)]


@router.get("/api/health", summary="Whether the server answers you")
def health(request: ApiRequest) -> HealthV2:
    return {"healthy": True}


@router.get("/api/location", summary="Which project a request is about")
def get_location(request: ApiRequest) -> Place:
    return location_to_wire(require_location(request))


@router.get("/api/agent", summary="Agents that can be chosen in a place")
def list_agents(request: ApiRequest) -> Placed[list[AgentV2]]:
    location = require_location(request)
    return placed(location, [_agent(wire) for wire in classic.list_agents(request)])


@router.get("/api/provider", summary="Providers of the team")
def list_providers(request: ApiRequest) -> Placed[list[ProviderV2]]:
    location = require_location(request)
    there = [one for one in all_providers(request) if one["models"]]
    return placed(location, [_provider(one) for one in there])


@router.get("/api/provider/{provider_id}", summary="One provider")
def get_provider(request: ApiRequest, provider_id: str) -> Placed[ProviderV2]:
    location = require_location(request)
    return placed(location, _provider(find_provider(request, provider_id)))


@router.get("/api/model", summary="Models that can be used now")
def list_models(request: ApiRequest) -> Placed[list[ModelV2]]:
    location = require_location(request)
    usable = classic.get_usable_providers(request)
    models = [model for one in usable["providers"] for model in object_of(one, "models").values()]
    return placed(location, [_model(one) for one in models if isinstance(one, dict)])


@router.get("/api/command", summary="Slash commands")
def list_commands(request: ApiRequest) -> Placed[list[CommandV2]]:
    rows = classic.list_commands(request)
    return placed(require_location(request), [_command(row) for row in rows])


@router.get("/api/skill", summary="Skills of a project and of its team")
def list_skills(request: ApiRequest) -> Placed[list[SkillV2]]:
    return placed(require_location(request), classic.list_skills(request))


@router.get("/api/reference", summary="Folders and repositories that the settings name")
def list_references(request: ApiRequest) -> Placed[list[ReferenceV2]]:
    location = require_location(request)
    config = project_config(location.project, location.folder)
    given = {**config.reference, **config.references}
    data = [_reference(name, value) for name, value in sorted(given.items())]
    return placed(location, [one for one in data if one is not None])


def all_providers(request: ApiRequest) -> list[JsonObject]:
    return classic.list_providers_for(request, HttpResponse(), Wanted())["all"]


def find_provider(request: ApiRequest, provider_id: str) -> JsonObject:
    found = next((one for one in all_providers(request) if one["id"] == provider_id), None)
    if found is None:
        raise NotFound("Provider", provider_id)
    return found


def _command(wire: CommandWire) -> CommandV2:
    provider_id, _, model_id = (wire.get("model") or "").partition("/")
    command: CommandV2 = {
        "name": wire["name"],
        "description": wire.get("description"),
        "agent": wire.get("agent"),
        "subtask": wire.get("subtask"),
        "template": wire["template"],
        "model": {"id": model_id, "providerID": provider_id} if model_id else None,
    }
    return drop_none(command)


def _agent(wire: AgentWire) -> AgentV2:
    # Options and prompts of agents are the server's own business.
    model = wire.get("model")
    agent: AgentV2 = {
        "id": wire["name"],
        "mode": wire["mode"],
        "hidden": wire["hidden"],
        "request": {"headers": {}, "body": {}},
        "permissions": [
            {
                "action": text_of(rule, "permission"),
                "resource": text_of(rule, "pattern"),
                "effect": text_of(rule, "action"),
            }
            for rule in wire["permission"]
        ],
        "model": {"id": model["modelID"], "providerID": model["providerID"]} if model else None,
        "description": wire["description"] or None,
        "system": wire.get("prompt"),
        "color": wire.get("color"),
        "steps": wire.get("steps") or None,
    }
    return drop_none(agent)


def _provider(wire: JsonObject) -> ProviderV2:
    models = [one for one in object_of(wire, "models").values() if isinstance(one, dict)]
    api = object_of(models[0], "api") if models else {}
    return {
        "id": text_of(wire, "id"),
        "integrationID": text_of(wire, "id"),
        "name": text_of(wire, "name"),
        "api": {"type": "aisdk", "package": text_of(api, "npm"), "url": text_of(api, "url")},
        "request": {"headers": {}, "body": {}},
    }


def _model(wire: JsonObject) -> ModelV2:
    api, cost = object_of(wire, "api"), object_of(wire, "cost")
    can = object_of(wire, "capabilities")
    model: ModelV2 = {
        "id": text_of(wire, "id"),
        "providerID": text_of(wire, "providerID"),
        "name": text_of(wire, "name"),
        "api": {
            "id": text_of(api, "id"),
            "type": "aisdk",
            "package": text_of(api, "npm"),
            "url": text_of(api, "url"),
        },
        "capabilities": {
            "tools": can.get("toolcall") is True,
            "input": [name for name, yes in object_of(can, "input").items() if yes is True],
            "output": [name for name, yes in object_of(can, "output").items() if yes is True],
        },
        "request": {"headers": {}, "body": {}},
        "variants": [
            {"id": name, "headers": {}, "body": {}} for name in object_of(wire, "variants")
        ],
        "time": {"released": _released_ms(text_of(wire, "release_date"))},
        "cost": [{key: cost[key] for key in ("input", "output", "cache") if key in cost}],
        "status": text_of(wire, "status"),
        "enabled": True,
        "limit": object_of(wire, "limit"),
    }
    if "family" in wire:
        model["family"] = text_of(wire, "family")
    return model


def _released_ms(day: str) -> int:
    try:
        return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0


def _reference(name: str, value: JsonValue) -> ReferenceV2 | None:
    if not isinstance(value, dict) or value.get("hidden") is True:
        return None
    path = text_of(value, "path")
    if not path:
        return None
    description = text_of(value, "description") or None
    source: FolderOfReference = {"type": "local", "path": path, "description": description}
    reference: ReferenceV2 = {
        "name": name,
        "path": path,
        "description": description,
        "source": drop_none(source),
    }
    return drop_none(reference)
