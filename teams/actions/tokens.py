from __future__ import annotations

import secrets
import string
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish
from opencode_web.lib.crypto import fingerprint
from opencode_web.lib.errors import Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, TeamAccess, has_role, require_role, user_group
from teams.audit import AuditAction, record
from teams.models import ApiToken, Membership, Role, Scope, Team, User
from teams.models.token import new_token_id
from teams.policy import require_policy

SECRET_PREFIX = "ocw_"  # noqa: S105 - the visible head that secret scanners look for
SECRET_LENGTH = 40
PREFIX_LENGTH = len(SECRET_PREFIX) + 8
TOUCH_INTERVAL = timedelta(minutes=1)
_ALPHABET = string.ascii_letters + string.digits


def scopes_up_to(scope: Scope) -> list[Scope]:
    """Returns: the scope and all it includes, least first."""
    order = list(Scope)
    return order[: order.index(scope) + 1]


@transaction.atomic
def create_token(
    user: User,
    *,
    team: Team,
    name: str,
    scope: Scope,
    expires_at: datetime | None = None,
    actor: User | None = None,
    client: str = "",
    token_id: str = "",
    renew_by: datetime | None = None,
    ip: str | None = None,
) -> tuple[ApiToken, str]:
    """Make a token of `user` for `team`. `actor` is who makes it, when that is somebody else.

    With `client`, the digest of the MCP client that gets it, it is good for `/mcp` alone.
    `token_id` is the ID that was reserved for it, if any; see `ApiToken` for `renew_by`.

    Returns: the row and its secret, which is nowhere else and cannot be shown again.
    Raises: Forbidden when the person is no member; PolicyUnmet when their browser was not signed in
    as the team wants it; Invalid for an end that is past; IntegrityError for an ID that is taken.
    """
    if not Membership.objects.current().filter(team=team, user=user).exists():
        raise Forbidden(_("You are not a member of %(name)s.") % {"name": team.name})
    if user.sign_in is not None:
        # The token is judged by what its person has set up, which a browser may not have shown.
        require_policy(user, team)
    if expires_at is not None and expires_at <= timezone.now():
        raise Invalid(_("The expiry must be in the future."))
    secret = _new_secret()
    token = ApiToken.objects.create(
        id=token_id or new_token_id(),
        user=user,
        team=team,
        made_by=actor or user,
        name=name,
        prefix=secret[:PREFIX_LENGTH],
        digest=fingerprint(secret),
        scopes=[item.value for item in scopes_up_to(scope)],
        expires_at=expires_at,
        client=client,
        renew_by=renew_by,
    )
    data: JsonObject = {"name": name, "prefix": token.prefix, "scope": scope.value}
    if client:
        data["mcp_client"] = True
    if actor is not None:
        data["user"] = user.email
    record(
        AuditAction.TOKEN_CREATED,
        actor=actor or user,
        team=team,
        target=token,
        data=data,
        ip=ip,
    )
    return token, secret


def renew_token(
    token: ApiToken, *, renewals: int, renew_by: datetime, expires_at: datetime
) -> str | None:
    """Give a live token another secret, and its row these values.

    Returns: the secret; None when it has been renewed more often than `renewals`, or has ended.
    """
    secret = _new_secret()
    token.prefix, token.digest = secret[:PREFIX_LENGTH], fingerprint(secret)
    token.renew_by, token.expires_at, token.renewals = renew_by, expires_at, renewals + 1
    changed = ApiToken.objects.live().filter(pk=token.pk, renewals=renewals)
    is_renewed = changed.update(
        prefix=token.prefix,
        digest=token.digest,
        renew_by=renew_by,
        expires_at=expires_at,
        renewals=token.renewals,
    )
    return secret if is_renewed else None


def _new_secret() -> str:
    return SECRET_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(SECRET_LENGTH))


@transaction.atomic
def revoke_token(token: ApiToken, *, actor: User, ip: str | None = None) -> ApiToken:
    """End a token at once. Revoking it again changes nothing.

    Raises: NotFound when it is not the actor's own.
    """
    if token.user_id != actor.pk:
        raise NotFound("Token", token.pk)
    end_token(token, actor=actor, ip=ip)
    return token


@transaction.atomic
def revoke_member_token(access: TeamAccess, token: ApiToken, *, ip: str | None = None) -> None:
    """End a token of a member for the team.

    Raises: Forbidden below admin, and when the member stands above the actor; NotFound for a token
    of another team or of a service account.
    """
    require_role(access, Role.ADMIN)
    row = Membership.objects.filter(user=token.user_id, team=access.team).first()
    if token.team_id != access.team.pk or token.user.service_of_id is not None or row is None:
        raise NotFound("Token", token.pk)
    if not has_role(access.role, Role(row.role)):
        raise Forbidden(_("Only an owner can change another owner."))
    end_token(token, actor=access.user, ip=ip)


def end_token(
    token: ApiToken, *, actor: User | None, reason: str = "", ip: str | None = None
) -> None:
    """Revoke a token that the actor may revoke, or the server. Must run inside a transaction."""
    now = timezone.now()
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        token.revoked_at = now
        transaction.on_commit(partial(publish, user_group(token.user_id), {"t": ACCESS_CHANGED}))
        data: JsonObject = {"name": token.name, "prefix": token.prefix}
        if reason:
            data["reason"] = reason
        record(
            AuditAction.TOKEN_REVOKED, actor=actor, team=token.team, target=token, data=data, ip=ip
        )


def touch_token(token: ApiToken) -> None:
    """Note that the token was used, at most once a minute so that reads do not become writes."""
    now = timezone.now()
    if token.last_used_at is not None and now - token.last_used_at < TOUCH_INTERVAL:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=now - TOUCH_INTERVAL)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
