from __future__ import annotations

from datetime import UTC, datetime

from django.http import HttpResponse
from ninja import Router

from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import JsonObject, JsonValue, list_of, object_of, text_of
from sessions.api import catalog as classic
from sessions.api.auth import ApiRequest
from sessions.api.location import require_location
from sessions.api.provider_list import Wanted
from sessions.api.v2.place import location_to_wire, placed
from sessions.config.effective import project_config

router = Router(tags=["catalog"])


@router.get("/api/health", summary="Whether the server answers you")
def health(request: ApiRequest) -> JsonObject:
    return {"healthy": True}


@router.get("/api/location", summary="Which project a request is about")
def get_location(request: ApiRequest) -> JsonObject:
    return location_to_wire(require_location(request))


@router.get("/api/agent", summary="Agents that can be chosen in a place")
def list_agents(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    return placed(location, [_agent(wire) for wire in classic.list_agents(request)])


@router.get("/api/provider", summary="Providers of the team")
def list_providers(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    there = [one for one in all_providers(request) if one["models"]]
    return placed(location, [_provider(one) for one in there])


@router.get("/api/provider/{provider_id}", summary="One provider")
def get_provider(request: ApiRequest, provider_id: str) -> JsonObject:
    location = require_location(request)
    return placed(location, _provider(find_provider(request, provider_id)))


@router.get("/api/model", summary="Models that can be used now")
def list_models(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    usable = classic.get_usable_providers(request)
    models = [
        model
        for one in list_of(usable, "providers")
        if isinstance(one, dict)
        for model in object_of(one, "models").values()
    ]
    return placed(location, [_model(one) for one in models if isinstance(one, dict)])


@router.get("/api/command", summary="Slash commands")
def list_commands(request: ApiRequest) -> JsonObject:
    rows = classic.list_commands(request)
    return placed(require_location(request), [_command(row) for row in rows])


@router.get("/api/skill", summary="Skills of a project and of its team")
def list_skills(request: ApiRequest) -> JsonObject:
    return placed(require_location(request), classic.list_skills(request))


@router.get("/api/reference", summary="Folders and repositories that the settings name")
def list_references(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    config = project_config(location.project, location.folder)
    given = {**config.reference, **config.references}
    data = [_reference(name, value) for name, value in sorted(given.items())]
    return placed(location, [one for one in data if one is not None])


def all_providers(request: ApiRequest) -> list[JsonObject]:
    wire = classic.list_providers_for(request, HttpResponse(), Wanted())
    return [one for one in list_of(wire, "all") if isinstance(one, dict)]


def find_provider(request: ApiRequest, provider_id: str) -> JsonObject:
    found = next((one for one in all_providers(request) if one["id"] == provider_id), None)
    if found is None:
        raise NotFound("Provider", provider_id)
    return found


def _command(wire: JsonObject) -> JsonObject:
    kept = ("name", "description", "agent", "subtask", "template")
    command = {key: wire[key] for key in kept if key in wire}
    provider_id, _, model_id = text_of(wire, "model").partition("/")
    model: JsonObject = {"id": model_id, "providerID": provider_id}
    return {**command, "model": model} if model_id else command


def _agent(wire: JsonObject) -> JsonObject:
    # Options and prompts of agents are the server's own business.
    rules = [rule for rule in list_of(wire, "permission") if isinstance(rule, dict)]
    agent: JsonObject = {
        "id": wire["name"],
        "mode": wire["mode"],
        "hidden": wire["hidden"],
        "request": {"headers": {}, "body": {}},
        "permissions": [
            {"action": rule["permission"], "resource": rule["pattern"], "effect": rule["action"]}
            for rule in rules
        ],
    }
    if model := object_of(wire, "model"):
        agent["model"] = {"id": model["modelID"], "providerID": model["providerID"]}
    optional = {"description": "description", "prompt": "system", "color": "color"}
    agent.update({ours: wire[key] for key, ours in optional.items() if wire.get(key)})
    return {**agent, "steps": wire["steps"]} if wire.get("steps") else agent


def _provider(wire: JsonObject) -> JsonObject:
    models = [one for one in object_of(wire, "models").values() if isinstance(one, dict)]
    api = object_of(models[0], "api") if models else {}
    return {
        "id": wire["id"],
        "integrationID": wire["id"],
        "name": wire["name"],
        "api": {"type": "aisdk", "package": api.get("npm", ""), "url": api.get("url", "")},
        "request": {"headers": {}, "body": {}},
    }


def _model(wire: JsonObject) -> JsonObject:
    api, cost = object_of(wire, "api"), object_of(wire, "cost")
    can = object_of(wire, "capabilities")
    variants: list[JsonValue] = [
        {"id": name, "headers": {}, "body": {}} for name in object_of(wire, "variants")
    ]
    media: list[JsonValue] = [name for name, yes in object_of(can, "input").items() if yes is True]
    said: list[JsonValue] = [name for name, yes in object_of(can, "output").items() if yes is True]
    model: JsonObject = {
        "id": wire["id"],
        "providerID": wire["providerID"],
        "name": wire["name"],
        "api": {
            "id": api["id"],
            "type": "aisdk",
            "package": api.get("npm", ""),
            "url": api.get("url", ""),
        },
        "capabilities": {"tools": can.get("toolcall", False), "input": media, "output": said},
        "request": {"headers": {}, "body": {}},
        "variants": variants,
        "time": {"released": _released_ms(text_of(wire, "release_date"))},
        "cost": [{key: cost[key] for key in ("input", "output", "cache") if key in cost}],
        "status": wire["status"],
        "enabled": True,
        "limit": wire["limit"],
    }
    return {**model, "family": wire["family"]} if "family" in wire else model


def _released_ms(day: str) -> int:
    try:
        return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return 0


def _reference(name: str, value: JsonValue) -> JsonObject | None:
    if not isinstance(value, dict) or value.get("hidden") is True:
        return None
    described = text_of(value, "description")
    kept: JsonObject = {"description": described} if described else {}
    if path := text_of(value, "path"):
        source: JsonObject = {"type": "local", "path": path, **kept}
        return {"name": name, "path": path, **kept, "source": source}
    return None
