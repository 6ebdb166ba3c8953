"""Which providers have a key, and setting it. Nobody signs in to one in another way here."""

from __future__ import annotations

import re

from django.http import HttpResponse
from ninja import Field, Router, Schema

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from providers.access import access_provider
from providers.actions import create_provider, remove_key, set_key
from providers.catalog import known_provider
from providers.models import Credential, ProviderConfig
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, require_location
from sessions.api.v2.catalog import all_providers, find_provider
from sessions.api.v2.place import placed
from sessions.present.data import text_of
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["catalog"])

MAX_KEY_CHARS = 10_000
_NUMBER = re.compile(r"[0-9]{1,18}")


class KeyConnection(Schema):
    """A key for a provider of the team. It is never shown again."""

    key: str = Field(max_length=MAX_KEY_CHARS)
    label: str = Field(default="", max_length=200)


class LabelBody(Schema):
    """What a key would be called."""

    label: str = Field(max_length=200)


@router.get("/api/integration", summary="Providers that take a key, and which have one")
def list_integrations(request: ApiRequest) -> JsonObject:
    location = require_location(request)
    keys = _keys(location)
    return placed(location, [_integration(one, keys) for one in all_providers(request)])


@router.get("/api/integration/{integration_id}", summary="One of them")
def get_integration(request: ApiRequest, integration_id: str) -> JsonObject:
    location = require_location(request)
    return placed(location, _integration(find_provider(request, integration_id), _keys(location)))


@router.post(
    "/api/integration/{integration_id}/connect/key",
    response={204: None},
    summary="Set the team's key for a provider",
)
def connect_key(request: ApiRequest, integration_id: str, body: KeyConnection) -> HttpResponse:
    location = require_location(request, need=Role.ADMIN)
    team, user = location.access.team, request.auth.user
    if ProviderConfig.objects.filter(team=team.team, provider_id=integration_id).exists():
        set_key(access_provider(team, integration_id), actor=user, key=body.key)
        return HttpResponse(status=204)
    known = known_provider(integration_id)
    if known is None:
        raise NotFound("Provider", integration_id)
    create_provider(
        team.team,
        actor=user,
        kind=known.kind,
        name=known.name,
        provider_id=known.id,
        base_url=known.base_url,
        key=body.key,
    )
    return HttpResponse(status=204)


@router.post(
    "/api/integration/{integration_id}/connect/oauth", summary="No provider signs in this way here"
)
def connect_oauth(request: ApiRequest, integration_id: str) -> JsonObject:
    find_provider(request, integration_id)
    raise Invalid("Providers take an API key on this server: an admin sets it in the settings.")


@router.get("/api/integration/attempt/{attempt_id}", summary="There is none: providers take keys")
def get_attempt(request: ApiRequest, attempt_id: str) -> JsonObject:
    raise _no_attempt(request, attempt_id)


@router.delete(
    "/api/integration/attempt/{attempt_id}", summary="There is none: providers take keys"
)
def cancel_attempt(request: ApiRequest, attempt_id: str) -> JsonObject:
    raise _no_attempt(request, attempt_id)


@router.post(
    "/api/integration/attempt/{attempt_id}/complete", summary="There is none: providers take keys"
)
def complete_attempt(request: ApiRequest, attempt_id: str) -> JsonObject:
    raise _no_attempt(request, attempt_id)


@router.delete(
    "/api/credential/{credential_id}", response={204: None}, summary="Forget the key of a provider"
)
def remove_credential(request: ApiRequest, credential_id: str) -> HttpResponse:
    location = require_location(request, need=Role.ADMIN)
    row = _credential(location, credential_id).provider
    remove_key(row, actor=request.auth.user, ip=client_ip(request))
    return HttpResponse(status=204)


@router.patch("/api/credential/{credential_id}", summary="Not offered: a key is told by its end")
def rename_credential(request: ApiRequest, credential_id: str, body: LabelBody) -> JsonObject:
    _credential(require_location(request, need=Role.ADMIN), credential_id)
    raise Invalid("A provider has one key here, which is told by its end. It has no other label.")


def _credential(location: Location, credential_id: str) -> Credential:
    """Raises: NotFound for one that is no key of this team."""
    number = credential_id.removeprefix("cred_")
    rows = Credential.objects.filter(provider__team=location.project.team).select_related(
        "provider"
    )
    row = rows.filter(pk=int(number)).first() if _NUMBER.fullmatch(number) else None
    if row is None:
        raise NotFound("Credential", credential_id)
    return row


def _no_attempt(request: ApiRequest, attempt_id: str) -> NotFound:
    require_location(request, need=Role.ADMIN)
    return NotFound("Attempt to sign in", attempt_id)


def _keys(location: Location) -> dict[str, Credential]:
    rows = Credential.objects.filter(provider__team=location.project.team)
    return {row.provider.provider_id: row for row in rows.select_related("provider")}


def _integration(wire: JsonObject, keys: dict[str, Credential]) -> JsonObject:
    provider_id = text_of(wire, "id")
    key = keys.get(provider_id)
    connections: list[JsonValue] = []
    if key is not None:
        label = f"…{key.last4}" if key.last4 else "API key"
        connections.append({"type": "credential", "id": f"cred_{key.pk}", "label": label})
    return {
        "id": provider_id,
        "name": wire["name"],
        "methods": [{"type": "key", "label": "API key"}],
        "connections": connections,
    }
