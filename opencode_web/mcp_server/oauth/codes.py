"""What a person has granted, on its way through their browser to the client.

A code names the token that it makes, so it makes one only: the second time there is one already.
"""

from __future__ import annotations

import base64
import hashlib

from django.core import signing
from django.db import IntegrityError, transaction
from pydantic import BaseModel, ConfigDict

from opencode_web.lib.crypto import is_same
from opencode_web.lib.errors import Forbidden
from opencode_web.lib.origin import identify
from opencode_web.mcp_server.oauth.renewal import invalid_grant, renewal_times
from teams.actions.browsers import browsers_of
from teams.actions.tokens import create_token, end_token
from teams.browser import BrowserSession
from teams.models import ApiToken, Scope, Team, User
from teams.policy import require_policy

CODE_S = 60
_SALT = "opencode_web.mcp_server.code"


class Grant(BaseModel):
    """`client` and `browser` are digests, `token` is the ID that the token will have."""

    model_config = ConfigDict(frozen=True)

    token: str
    user: int
    # Codes of an earlier version name none.
    browser: str = ""
    team: str
    scope: Scope
    client: str
    name: str
    redirect_uri: str
    challenge: str


def issue_code(grant: Grant) -> str:
    """Returns: a code that is good for `CODE_S` seconds."""
    return signing.dumps(grant.model_dump(mode="json"), salt=_SALT, compress=True)


def read_code(code: str) -> Grant:
    """Raises: TokenError when this server has not issued it, or it is too old."""
    try:
        return Grant.model_validate(signing.loads(code, salt=_SALT, max_age=CODE_S))
    except signing.BadSignature as exc:
        raise invalid_grant("The code is wrong or has expired. Connect again.") from exc


def proves(verifier: str, challenge: str) -> bool:
    """Whether it is the verifier of an S256 challenge. Source: RFC 7636, 4.6."""
    digest = hashlib.sha256(verifier.encode(errors="replace")).digest()
    return is_same(base64.urlsafe_b64encode(digest).decode().rstrip("="), challenge)


def redeem(grant: Grant, *, renews: bool, ip: str | None) -> tuple[ApiToken, str]:
    """Make the token. A code that comes twice was stolen by one of the two, so its token ends.

    `renews`: it comes with refresh tokens, so its secret is soon spent.

    Returns: the row and its secret. Raises: TokenError.
    """
    user = User.objects.filter(pk=grant.user, is_active=True).first()
    team = Team.objects.filter(pk=grant.team).first()
    if user is None or team is None:
        raise invalid_grant("The account or team is gone.")
    identify(user.pk)
    renew_by, expires_at = renewal_times()
    try:
        # The browser of the person is not here, so this judges them as a token is judged.
        require_policy(user, team)
        with transaction.atomic():
            # Who ends all sign-ins of the person meets either the code or the token.
            user = User.objects.select_for_update().get(pk=user.pk)
            made = create_token(
                user,
                team=team,
                name=grant.name,
                scope=grant.scope,
                expires_at=expires_at,
                renew_by=renew_by if renews else None,
                client=grant.client,
                token_id=grant.token,
                ip=ip,
            )
            keys = (row.session_key for row in browsers_of(user))
            if all(BrowserSession(key).digest != grant.browser for key in keys):
                raise invalid_grant("The browser that granted this is signed out. Connect again.")
            return made
    except Forbidden as exc:
        raise invalid_grant(exc.message) from exc
    except IntegrityError as exc:
        token = ApiToken.objects.filter(pk=grant.token).first()
        if token is None:
            raise
        with transaction.atomic():
            end_token(token, actor=None, ip=ip)
        said = "The code was used before. Its token is revoked; connect again."
        raise invalid_grant(said) from exc
