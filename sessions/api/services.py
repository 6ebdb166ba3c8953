"""Service accounts of a team, for its admins. `?team=` names it where the caller has several."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from django.http import HttpResponse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.wire import to_ms
from teams.access import TeamAccess
from teams.actions.services import (
    MAX_NAME_CHARS,
    access_service,
    create_service,
    create_service_token,
    delete_service,
    revoke_service_token,
    update_service,
)
from teams.forms import days_from_now
from teams.http import client_ip
from teams.models import ApiToken, Membership, Role, Scope

router = Router(tags=["service account"])

GivenRole = Literal["admin", "member", "viewer", "billing"]
MAX_DAYS = 3650
# Its id is a number of the database.
MAX_ID = 2**62


class ServiceBody(Schema):
    name: str = Field(max_length=MAX_NAME_CHARS)
    role: GivenRole = "member"


class ServicePatch(Schema):
    """Only what is given changes."""

    name: str | None = Field(default=None, max_length=MAX_NAME_CHARS)
    role: GivenRole | None = None
    enabled: bool | None = None


class TokenBody(Schema):
    """Without `days` it never expires."""

    name: str = Field(max_length=MAX_NAME_CHARS)
    scope: Literal["read", "write", "admin"] = "write"
    days: int = Field(default=0, ge=0, le=MAX_DAYS)


class ServiceToken(TypedDict):
    id: str
    name: str
    prefix: str
    scope: Annotated[str, Unchecked(Literal["read", "write", "admin"])]
    madeBy: NotRequired[str | None]
    """The e-mail address of who has seen its secret."""
    expires: NotRequired[int | None]
    lastUsed: NotRequired[int | None]
    """Units: milliseconds since the epoch."""


class MadeServiceToken(ServiceToken):
    secret: str


class ServiceAccount(TypedDict):
    id: int
    name: str
    email: str
    role: Annotated[str, Unchecked(GivenRole)]
    enabled: bool
    tokens: list[ServiceToken]


@router.get("/service-account", summary="Service accounts of a team")
def list_services(request: ApiRequest, team: str = "") -> list[ServiceAccount]:
    owner = _admin(request, team).team
    rows = owner.memberships.filter(user__service_of=owner).select_related("user")
    rows = rows.prefetch_related("user__api_tokens__made_by")
    return [_to_wire(row) for row in rows.order_by("pk")]


@router.post("/service-account", summary="Make an account for a program")
def post_service(request: ApiRequest, body: ServiceBody, team: str = "") -> ServiceAccount:
    access = _admin(request, team)
    ip = client_ip(request)
    return _to_wire(create_service(access, name=body.name, role=Role(body.role), ip=ip))


@router.get("/service-account/{account_id}", summary="One service account")
def get_service(request: ApiRequest, account_id: int, team: str = "") -> ServiceAccount:
    return _to_wire(_find(_admin(request, team), account_id))


@router.patch("/service-account/{account_id}", summary="Change it, or switch it on or off")
def patch_service(
    request: ApiRequest, account_id: int, body: ServicePatch, team: str = ""
) -> ServiceAccount:
    access = _admin(request, team)
    row = update_service(
        access,
        _find(access, account_id),
        name=body.name,
        role=Role(body.role) if body.role else None,
        enabled=body.enabled,
        ip=client_ip(request),
    )
    return _to_wire(row)


@router.delete("/service-account/{account_id}", summary="End it with its tokens and streams")
def remove_service(request: ApiRequest, account_id: int, team: str = "") -> bool:
    access = _admin(request, team)
    delete_service(access, _find(access, account_id), ip=client_ip(request))
    return True


@router.post("/service-account/{account_id}/token", summary="Make a token; it is shown once")
def post_token(
    request: ApiRequest, account_id: int, body: TokenBody, response: HttpResponse, team: str = ""
) -> MadeServiceToken:
    access = _admin(request, team)
    token, secret = create_service_token(
        access,
        _find(access, account_id),
        name=body.name,
        scope=Scope(body.scope),
        expires_at=days_from_now(body.days),
        ip=client_ip(request),
    )
    # Neither caches nor the answers that an Idempotency-Key repeats may have it.
    response["Cache-Control"] = "no-store"
    return {**_token_to_wire(token), "secret": secret}


@router.delete("/service-account/{account_id}/token/{key_id}", summary="End a token at once")
def remove_token(request: ApiRequest, account_id: int, key_id: str, team: str = "") -> bool:
    access = _admin(request, team)
    revoke_service_token(access, _find(access, account_id), key_id, ip=client_ip(request))
    return True


def _admin(request: ApiRequest, team: str) -> TeamAccess:
    return team_of(request, team, need=Role.ADMIN)


def _find(access: TeamAccess, account_id: int) -> Membership:
    return access_service(access, account_id if 0 < account_id < MAX_ID else 0)


def _to_wire(row: Membership) -> ServiceAccount:
    user = row.user
    live = [token for token in user.api_tokens.all() if token.revoked_at is None]
    return {
        "id": user.pk,
        "name": user.name,
        "email": user.email,
        "role": str(row.role),
        "enabled": user.is_active,
        "tokens": [_token_to_wire(token) for token in live],
    }


def _token_to_wire(token: ApiToken) -> ServiceToken:
    wire: ServiceToken = {
        "id": token.pk,
        "name": token.name,
        "prefix": token.prefix,
        "scope": token.scopes[-1],
        "madeBy": token.made_by.email if token.made_by else None,
        "expires": to_ms(token.expires_at) if token.expires_at else None,
        "lastUsed": to_ms(token.last_used_at) if token.last_used_at else None,
    }
    return drop_none(wire)
