"""From a header or a signed-in browser to a `Principal`. Synchronous: it asks the database."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Literal

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.crypto import fingerprint, is_same, matches
from opencode_web.lib.errors import Forbidden, Unauthorized
from opencode_web.lib.text import clean_text
from teams.access import teams_of
from teams.actions.attempts import Kind, count_attempt
from teams.actions.tokens import PREFIX_LENGTH, SECRET_PREFIX, touch_token
from teams.audit import AuditAction, record
from teams.browser import BrowserSession
from teams.models import ApiToken, FormerKey, Membership, Role, Scope, SignIn, Team, User
from teams.policy import meets_policy, require_policy, unmet_teams

ALL_SCOPES = frozenset(Scope)


_CANDIDATES = CompiledQuery(
    lambda prefix: ApiToken.objects.filter(
        prefix=prefix, revoked_at=None, user__is_active=True
    ).select_related("user", "team"),
    str,
)
_TOKEN = CompiledQuery(
    lambda token_id: ApiToken.objects.filter(pk=token_id).select_related("user", "team"), str
)
_MEMBERSHIP = CompiledQuery(
    lambda user_id, team_id: Membership.objects.current().filter(user=user_id, team=team_id)[:1],
    int,
    str,
)


@dataclass(frozen=True)
class Principal:
    """Who acts. `team` is the one team of a token; None means every team of the person (cookie)."""

    user: User
    team: Team | None
    scopes: frozenset[Scope]
    via: Literal["token", "cookie"]
    token_id: str | None = None
    # The browser's session of a cookie, for connections that outlive the request.
    browser: BrowserSession | None = None

    def require(self, scope: Scope) -> None:
        """Raises: Forbidden when the token was not made for this."""
        if scope not in self.scopes:
            raise Forbidden(f"This API token does not have the scope {scope.value}.")


def authenticate_header(
    authorization: str, *, ip: str | None = None, for_mcp: bool = False
) -> Principal | None:
    """Check `Bearer <token>` or `Basic <base64 of e-mail:token>`.

    Returns: None when it is neither or does not name a live token of an active member.
    Raises: PolicyUnmet when the person has not set up what the team's sign-in policy wants;
    Unauthorized for the token of an MCP client, unless it is Bearer `for_mcp`; TooManyRequests for
    a wrong one when the address has failed too often.
    """
    scheme, _, credentials = authorization.strip().partition(" ")
    match scheme.lower():
        case "bearer":
            email, secret = None, credentials.strip()
        case "basic":
            email, secret = _parse_basic(credentials.strip())
        case _:
            return None
    # The token first: it cannot be guessed, and no limit may keep out somebody who has one.
    principal = _principal_of(secret, email, for_mcp=for_mcp)
    if principal is None and ip is not None:
        tried = email or secret[:PREFIX_LENGTH]
        count_attempt(Kind.TOKEN, address=ip, account=tried)
        account = clean_text(tried)[:PREFIX_LENGTH] if secret.startswith(SECRET_PREFIX) else ""
        record(AuditAction.TOKEN_REFUSED, actor=None, team=None, data={"account": email or account})
    return principal


def authenticate_user(user: User, *, browser: BrowserSession | None = None) -> Principal:
    """The principal of a signed-in browser."""
    # Without it the person would be judged as a token is.
    user.sign_in = user.sign_in or SignIn()
    return Principal(user=user, team=None, scopes=ALL_SCOPES, via="cookie", browser=browser)


def resume_principal(user: User, *, token_id: str = "", browser_key: str = "") -> Principal | None:
    """The principal of a token or a sign-in that was checked a moment ago.

    Returns: None when it is not good any more.
    """
    if browser_key:
        browser = BrowserSession(browser_key)
        user.sign_in = browser.sign_in(user)
        principal = authenticate_user(user, browser=browser)
    else:
        token = (
            ApiToken.objects.live().filter(pk=token_id, user=user).select_related("team").first()
        )
        if token is None:
            return None
        principal = Principal(
            user=user, team=token.team, scopes=token.scope_set, via="token", token_id=token.id
        )
    return principal if is_live(principal) else None


def authenticate_for(user: User, team: Team) -> Principal:
    """The principal of work that somebody has left to the server: their role, in one team."""
    scopes = frozenset({Scope.READ, Scope.WRITE})
    return Principal(user=user, team=team, scopes=scopes, via="token")


def principal_teams(principal: Principal, *, need: Role | None = Role.VIEWER) -> list[Team]:
    """Like `teams_of`, within the team of a token, without those whose sign-in policy is not met.

    Memberships are read anew each time.
    """
    teams = teams_of(principal.user, need=need).exclude(unmet_teams(principal.user))
    if principal.team is not None:
        teams = teams.filter(pk=principal.team.pk)
    return list(teams)


def is_live(principal: Principal) -> bool:
    """Whether person and token or sign-in are still good. For connections that stay open."""
    if principal.browser is not None:
        return principal.browser.is_signed_in(principal.user.pk)
    if principal.token_id is None:
        return User.objects.filter(pk=principal.user.pk, is_active=True).exists()
    token = _TOKEN.first(principal.token_id)
    return (
        token is not None
        and token.revoked_at is None
        and not token.is_expired
        and token.user.is_active
        and meets_policy(token.user, token.team)
    )


def require_live(principal: Principal) -> None:
    """Raises: Unauthorized when person, token or sign-in is not good any more."""
    if not is_live(principal):
        raise Unauthorized("This sign-in has ended.")


def _principal_of(secret: str, email: str | None, *, for_mcp: bool) -> Principal | None:
    token = find_token(secret)
    if token is None or (email is not None and email.lower() != token.user.email.lower()):
        return None
    if token.is_for_mcp and (not for_mcp or email is not None):
        raise Unauthorized("The token of an MCP client opens /mcp alone. Send an API token.")
    if _MEMBERSHIP.first(token.user_id, token.team_id) is None:
        return None
    require_policy(token.user, token.team)
    touch_token(token)
    return Principal(
        user=token.user, team=token.team, scopes=token.scope_set, via="token", token_id=token.id
    )


def _parse_basic(credentials: str) -> tuple[str, str]:
    try:
        text = base64.b64decode(credentials, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    email, _, secret = text.partition(":")
    return email, secret


def find_token(secret: str) -> ApiToken | None:
    """Returns: the live token of an active account that has this secret."""
    if not secret.startswith(SECRET_PREFIX):
        return None
    found = _CANDIDATES.all(secret[:PREFIX_LENGTH])
    candidates = [token for token in found if not (token.is_expired or token.is_due)]
    # The row is found by what is visible anyway; what is secret is compared in constant time.
    for token in candidates:
        if matches(secret, token.digest):
            return token
    former = FormerKey.objects.fingerprints(secret) if candidates else []
    for token in candidates:
        if any(is_same(token.digest, known) for known in former):
            # From now on it is found at once.
            ApiToken.objects.filter(pk=token.pk).update(digest=fingerprint(secret))
            return token
    return None
