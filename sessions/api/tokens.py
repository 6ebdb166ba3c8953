"""The caller's own API tokens."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema

from opencode_web.lib.errors import Forbidden, Invalid, NotFound
from sessions.api.auth import ApiRequest
from teams.access import teams_of
from teams.actions.tokens import create_token, revoke_token
from teams.auth import Principal
from teams.http import client_ip
from teams.models import ApiToken, Scope, Team

router = Router(tags=["token"])

MAX_DAYS = 3_650


class TokenCreate(Schema):
    """Without `team` it is for the team of the calling token, or the caller's only one."""

    name: str = Field(min_length=1, max_length=80)
    scope: Scope = Scope.READ
    team: str | None = Field(default=None, description="The team's slug")
    expires_days: int | None = Field(default=None, ge=1, le=MAX_DAYS)


class TokenOut(Schema):
    """A token without its secret."""

    id: str
    name: str
    prefix: str
    team: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    current: bool = Field(description="Whether it is the one of this request")


class NewTokenOut(TokenOut):
    """`token` is the secret. It is shown here and never again."""

    token: str


@router.get("/token", response=list[TokenOut], summary="Your tokens that are not revoked")
def list_tokens(request: ApiRequest) -> list[TokenOut]:
    return [_shown(row, request.auth) for row in _own(request.auth).order_by("-created_at")]


@router.post("/token", response=NewTokenOut, summary="Make a token of yours")
def post_token(request: ApiRequest, response: HttpResponse, body: TokenCreate) -> NewTokenOut:
    # What a leaked token could make would outlive it.
    request.auth.require(Scope.ADMIN)
    row, secret = create_token(
        request.auth.user,
        team=_team(request.auth, body.team),
        name=body.name,
        scope=body.scope,
        expires_at=_end(request.auth, body.expires_days),
        ip=client_ip(request),
    )
    # Not by a cache on the way, and not under an idempotency key: it is shown once.
    response["Cache-Control"] = "no-store"
    return NewTokenOut(token=secret, **_shown(row, request.auth).model_dump())


@router.delete("/token/{token_id}", response=bool, summary="Revoke a token of yours at once")
def delete_token(request: ApiRequest, token_id: str) -> bool:
    row = _own(request.auth).filter(pk=token_id).first()
    if row is None:
        raise NotFound("Token", token_id)
    # Giving itself up is free to each.
    if row.pk != request.auth.token_id:
        request.auth.require(Scope.ADMIN)
    revoke_token(row, actor=request.auth.user, ip=client_ip(request))
    return True


def _own(principal: Principal) -> QuerySet[ApiToken]:
    rows = ApiToken.objects.filter(user=principal.user, revoked_at=None).select_related("team")
    return rows.filter(team=principal.team) if principal.team else rows


def _team(principal: Principal, slug: str | None) -> Team:
    teams = [principal.team] if principal.team else list(teams_of(principal.user, need=None))
    named = [team for team in teams if slug in (None, team.slug)]
    if len(named) == 1:
        return named[0]
    if slug is not None:
        raise NotFound("Team", slug)
    raise Invalid(f"Name a team: {', '.join(team.slug for team in teams) or 'you are in none'}.")


def _end(principal: Principal, days: int | None) -> datetime | None:
    end = timezone.now() + timedelta(days=days) if days else None
    own = ApiToken.objects.get(pk=principal.token_id).expires_at if principal.token_id else None
    if own is not None and (end is None or end > own):
        raise Forbidden(
            f"This token expires on {own:%Y-%m-%d} and cannot create tokens that expire later."
        )
    return end


def _shown(row: ApiToken, principal: Principal) -> TokenOut:
    return TokenOut(
        id=row.pk,
        name=row.name,
        prefix=row.prefix,
        team=row.team.slug,
        scopes=row.scopes,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        current=row.pk == principal.token_id,
    )
