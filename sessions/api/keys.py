"""Keys of providers, as clients set them: they are the team's, and nobody reads them back."""

from __future__ import annotations

from typing import Literal

from ninja import Field, Router, Schema

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from providers.access import access_provider
from providers.actions import remove_key, set_key_of
from providers.credentials import MAX_KEY_CHARS
from providers.effective import needs_key
from providers.resolve import list_providers
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.api.location import find_location
from sessions.effective_config import config_data
from teams.access import TeamAccess
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["provider"])

_SETTINGS = "Set a key instead: PUT /auth/{id} or Team settings → Models of the team."


class AuthBody(Schema):
    """A key. Sign-ins of one person do not belong to a team, so they are not taken."""

    type: Literal["api", "oauth", "wellknown"]
    key: str = Field(default="", max_length=MAX_KEY_CHARS)
    metadata: dict[str, str] | None = None


class OAuthBody(Schema):
    """Which way to sign in, by its place in the list."""

    method: float
    code: str | None = Field(default=None, max_length=10_000)
    inputs: dict[str, str] | None = None


def _team(request: ApiRequest, *, need: Role) -> TeamAccess:
    location = find_location(request, need=need)
    return location.access.team if location else team_of(request, need=need)


@router.put("/auth/{provider_id}", summary="Set the key of a provider for the whole team")
def put_auth(request: ApiRequest, provider_id: str, body: AuthBody) -> bool:
    access = _team(request, need=Role.ADMIN)
    if body.type != "api" or not body.key:
        raise Invalid(f"A team signs in to a provider with a key only. {_SETTINGS}")
    set_key_of(access.team, provider_id, key=body.key, actor=access.user, ip=client_ip(request))
    return True


@router.delete("/auth/{provider_id}", summary="Forget the key of a provider")
def delete_auth(request: ApiRequest, provider_id: str) -> bool:
    access = _team(request, need=Role.ADMIN)
    row = access_provider(access, provider_id)
    remove_key(row, actor=access.user, ip=client_ip(request))
    return True


@router.get("/provider/auth", summary="How the team can sign in to its providers")
def list_methods(request: ApiRequest) -> dict[str, list[JsonObject]]:
    location = find_location(request)
    if location is None:
        return {}
    providers = list_providers(location.project.team, config_data(location.project))
    wanting = (one.id for one in providers if needs_key(one.npm))
    return {name: [{"type": "api", "label": "API key of the team"}] for name in wanting}


@router.post("/provider/{provider_id}/oauth/authorize", summary="Not offered: use a key")
def authorize(request: ApiRequest, provider_id: str, body: OAuthBody) -> JsonObject:
    _team(request, need=Role.ADMIN)
    raise Invalid(f"There is no sign-in for {provider_id[:100]} here. {_SETTINGS}")


@router.post("/provider/{provider_id}/oauth/callback", summary="Not offered: use a key")
def callback(request: ApiRequest, provider_id: str, body: OAuthBody) -> bool:
    _team(request, need=Role.ADMIN)
    raise Invalid(f"No sign-in for {provider_id[:100]} has begun. {_SETTINGS}")
