"""Keys of providers, as clients set them. Nobody reads them back.

What an admin sets is the team's. Anybody else sets a key of their own, where the team lets them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from django.utils.translation import gettext as _
from ninja import Field, Router, Schema

from opencode_web.lib.errors import Invalid, NotFound
from providers.access import access_own_provider, access_provider
from providers.actions import remove_key, set_key_of, set_own_key
from providers.actions.sign_ins import keep_grant
from providers.credentials import MAX_KEY_CHARS
from providers.effective import needs_key
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant, sign_in_of
from providers.llm.sign_in.errors import BadInput
from providers.resolve import list_providers
from providers.sign_ins import key_grant
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location
from sessions.api.sign_ins import AuthMethod, credential_access, holder_of, methods_to_wire
from sessions.config.effective import config_data
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["provider"])
_VISIBLE = re.compile(r"[!-~]*")
# The year 5138: beyond it are numbers that no date can be made of.
_LATEST_MS = 100_000_000_000_000


class AuthBody(Schema):
    """A key, or the tokens of a sign-in that the client has been through itself."""

    type: Literal["api", "oauth", "wellknown"]
    key: str = Field(default="", max_length=MAX_KEY_CHARS)
    metadata: dict[str, str] | None = None
    refresh: str = Field(default="", max_length=MAX_KEY_CHARS)
    access: str = Field(default="", max_length=MAX_KEY_CHARS)
    # Milliseconds since the epoch; 0 for what does not end.
    expires: float = 0
    accountId: str = Field(default="", max_length=200)
    enterpriseUrl: str = Field(default="", max_length=200)


@router.put("/auth/{provider_id}", summary="Set the key of a provider")
def put_auth(request: ApiRequest, provider_id: str, body: AuthBody) -> bool:
    access = credential_access(request)
    ip = client_ip(request)
    holder = access.team if access.can(Role.ADMIN) else holder_of(access)
    if body.type == "oauth":
        grant = _grant(provider_id, body)
        keep_grant(holder, provider_id, grant, actor=access.user, ip=ip)
    elif body.type != "api" or not body.key:
        raise Invalid(
            "Send a key as {type: api, key}, or the tokens of a sign-in. Remote settings of a "
            "well-known address are not supported."
        )
    elif (exchanged := key_grant(provider_id, body.key, body.metadata or {})) is not None:
        keep_grant(holder, provider_id, exchanged, actor=access.user, ip=ip)
    elif access.can(Role.ADMIN):
        given = body.metadata or {}
        set_key_of(
            access.team, provider_id, key=body.key, connection=given, actor=access.user, ip=ip
        )
    else:
        set_own_key(access.user, provider_id, key=body.key, connection=body.metadata or {}, ip=ip)
    return True


@router.delete("/auth/{provider_id}", summary="Forget the key of a provider")
def delete_auth(request: ApiRequest, provider_id: str) -> bool:
    """Forget the caller's own key; without one, that of the team, for an admin."""
    access = credential_access(request)
    try:
        row = access_own_provider(access.user, provider_id)
    except NotFound:
        row = access_provider(access, provider_id)
    remove_key(row, actor=access.user, ip=client_ip(request))
    return True


@router.get("/provider/auth", summary="How one can sign in to each provider")
def list_methods(request: ApiRequest) -> dict[str, list[AuthMethod]]:
    location = find_location(request)
    if location is None:
        return {}
    data, user = config_data(location.project), request.auth.user
    providers = list_providers(location.project.team, data, user=user)
    return methods_to_wire(one.id for one in providers if needs_key(one.npm))


def _grant(provider_id: str, body: AuthBody) -> Grant:
    """Raises: Invalid."""
    for name in ("access", "refresh", "accountId"):
        if not _VISIBLE.fullmatch(getattr(body, name)):
            raise Invalid(f"{name}: tokens and IDs must be visible ASCII characters.", field=name)
    if body.expires > _LATEST_MS:
        raise Invalid("expires: use milliseconds since 1970, or 0 for no expiry.", field="expires")
    sign_in = sign_in_of(provider_id)
    if sign_in is None or not (body.access or body.refresh):
        raise Invalid(f"{provider_id[:100]} needs a key: send {{type: api, key}}.")
    ends = datetime.fromtimestamp(body.expires / 1000, UTC) if body.expires > 0 else None
    try:
        return sign_in.adopted(
            access=Secret(body.access or body.refresh),
            refresh=Secret(body.refresh) if body.refresh and ends else None,
            expires_at=ends,
            account=body.accountId,
            domain=body.enterpriseUrl,
        )
    except BadInput as exc:
        field, fault = exc.first
        raise Invalid(f"{field}: {_(fault)}", field=field) from exc
