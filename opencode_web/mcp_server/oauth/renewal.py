"""Refresh tokens: a client with one gets another secret for its token, and another refresh token.

Each is good for one renewal. One that comes again was stolen by one of the two, so the token ends.
Source: RFC 6749, 6, and RFC 9700, 4.14.2.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.core import signing
from django.db import transaction
from django.utils import timezone
from mcp.server.auth.provider import TokenError
from pydantic import BaseModel, ConfigDict

from opencode_web.lib.errors import Forbidden
from opencode_web.lib.origin import identify
from opencode_web.mcp_server.oauth.clients import McpClient
from teams.actions.tokens import end_token, renew_token
from teams.models import ApiToken, Membership
from teams.policy import require_policy

# How long a secret is good for, and a token after its newest one.
SECRET_S = 3_600
TOKEN_DAYS = 30
MAX_CHARS = 500
_SALT = "opencode_web.mcp_server.refresh"


class RefreshToken(BaseModel):
    """`renewals`: how often the token had been renewed when this was issued."""

    model_config = ConfigDict(frozen=True)

    token: str
    renewals: int


def renewal_times() -> tuple[datetime, datetime]:
    """Returns: when a secret that is made now has to be renewed, and when its token ends."""
    now = timezone.now()
    return now + timedelta(seconds=SECRET_S), now + timedelta(days=TOKEN_DAYS)


def issue_refresh_token(token: ApiToken) -> str:
    """Returns: what renews a token once, as long as it lives."""
    refresh = RefreshToken(token=token.pk, renewals=token.renewals)
    return signing.dumps(refresh.model_dump(mode="json"), salt=_SALT, compress=True)


def find_renewable(refresh_token: str, client: McpClient) -> tuple[ApiToken, RefreshToken] | None:
    """Returns: the live token of this client that it was issued for."""
    if len(refresh_token) > MAX_CHARS:
        return None
    try:
        found = RefreshToken.model_validate(signing.loads(refresh_token, salt=_SALT))
    except signing.BadSignature:
        return None
    rows = ApiToken.objects.live().filter(client=client.digest, user__is_active=True)
    token = rows.select_related("user", "team").filter(pk=found.token).first()
    return None if token is None else (token, found)


def renew(
    refresh_token: str, client: McpClient, *, scope: str, ip: str | None
) -> tuple[ApiToken, str]:
    """Renew a token with the scopes that it has. `scope` is what the client asks for.

    Returns: the row and its new secret. Raises: TokenError.
    """
    known = find_renewable(refresh_token, client)
    if known is None:
        raise invalid_grant("The refresh token is wrong, or its token has ended. Connect again.")
    token, found = known
    identify(token.user_id, token_id=token.pk)
    if not Membership.objects.current().filter(team=token.team, user=token.user).exists():
        raise invalid_grant("The account is no longer a member of the team.")
    try:
        require_policy(token.user, token.team)
    except Forbidden as exc:
        raise invalid_grant(exc.message) from exc
    if not set(scope.split()).issubset(token.scopes):
        raise TokenError("invalid_scope", f"The token has only {' '.join(token.scopes)}.")
    renew_by, expires_at = renewal_times()
    with transaction.atomic():
        secret = renew_token(
            token, renewals=found.renewals, renew_by=renew_by, expires_at=expires_at
        )
        if secret is None:
            end_token(token, actor=None, reason="A refresh token was used twice.", ip=ip)
    if secret is None:
        raise invalid_grant(
            "The refresh token was used before. Its token is revoked; connect again."
        )
    return token, secret


def invalid_grant(message: str) -> TokenError:
    """Returns: that what a client has shown is good for no token."""
    return TokenError("invalid_grant", message)
