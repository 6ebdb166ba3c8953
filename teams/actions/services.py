"""Service accounts: principals of a team for programs. They have tokens and cannot sign in."""

from __future__ import annotations

import secrets
from datetime import datetime
from functools import partial

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import slug_of
from teams.access import (
    ACCESS_CHANGED,
    TeamAccess,
    has_role,
    require_lasting,
    require_role,
    user_group,
)
from teams.actions.members import announce_access, change_role
from teams.actions.tokens import create_token, end_token
from teams.audit import AuditAction, record
from teams.models import ApiToken, Membership, Role, Scope, Team, User

MAX_SERVICES = 100
MAX_NAME_CHARS = 80
# No mail can ever reach such a domain, and nobody can own it. Source: RFC 2606.
_DOMAIN = "service.invalid"


@transaction.atomic
def create_service(
    access: TeamAccess, *, name: str, role: Role, ip: str | None = None
) -> Membership:
    """Make an account for a program.

    Raises: Invalid for a name that is none; Forbidden below admin, and for a role above the
    caller's or owner; Conflict when the team has too many.
    """
    require_role(access, Role.ADMIN)
    _require_role_to_give(access, role)
    if Membership.objects.filter(user__service_of=access.team).count() >= MAX_SERVICES:
        raise Conflict(
            _("A team can have at most %(most)s service accounts. Delete one first.")
            % {"most": MAX_SERVICES}
        )
    name = _checked_name(name)
    local = f"{slug_of(name)[:40] or 'service'}-{secrets.token_hex(4)}"
    user = User(email=f"{local}@{_DOMAIN}", name=name, service_of=access.team)
    user.set_unusable_password()
    user.save()
    row = Membership.objects.create(team=access.team, user=user, role=role)
    _record(AuditAction.SERVICE_CREATED, access, row, ip)
    return row


@transaction.atomic
def update_service(
    access: TeamAccess,
    row: Membership,
    *,
    name: str | None = None,
    role: Role | None = None,
    enabled: bool | None = None,
    ip: str | None = None,
) -> Membership:
    """Change what is given. A disabled one is refused at once, and its streams end.

    Raises: as `create_service`; NotFound when somebody has deleted it.
    """
    require_role(access, Role.ADMIN)
    row = _lock(access, row)
    if role is not None and role != row.role:
        _require_role_to_give(access, role)
        row = change_role(row, access=access, role=role, ip=ip)
    user = row.user
    if name is not None:
        user.name = _checked_name(name)
    if enabled is not None:
        user.is_active = enabled
    user.save(update_fields=["name", "is_active"])
    if name is not None or enabled is not None:
        _record(AuditAction.SERVICE_UPDATED, access, row, ip)
    _announce(row)
    return row


@transaction.atomic
def delete_service(access: TeamAccess, row: Membership, *, ip: str | None = None) -> None:
    """End the account with its tokens and streams. What it did keeps its name."""
    require_role(access, Role.ADMIN)
    row = _lock(access, row)
    for token in ApiToken.objects.live().filter(user=row.user):
        end_token(token, actor=access.user, ip=ip)
    row.user.is_active = False
    row.user.save(update_fields=["is_active"])
    _record(AuditAction.SERVICE_DELETED, access, row, ip)
    _announce(row)
    announce_access(access.team.pk)
    row.delete()


def _lock(access: TeamAccess, row: Membership) -> Membership:
    """The account as it is now, until the transaction ends. The team's row is the lock of roles."""
    Team.objects.select_for_update().get(pk=access.team.pk)
    return access_service(access, row.user_id)


def create_service_token(
    access: TeamAccess,
    row: Membership,
    *,
    name: str,
    scope: Scope,
    expires_at: datetime | None = None,
    ip: str | None = None,
) -> tuple[ApiToken, str]:
    """Make a token of the account.

    Returns and raises: as `create_token`; Forbidden below admin, and to operators in an emergency.
    """
    require_role(access, Role.ADMIN)
    require_lasting(access)
    return create_token(
        row.user,
        team=access.team,
        name=_checked_name(name),
        scope=scope,
        expires_at=expires_at,
        actor=access.user,
        ip=ip,
    )


@transaction.atomic
def revoke_service_token(
    access: TeamAccess, row: Membership, token_id: str, *, ip: str | None = None
) -> None:
    """End one of its tokens at once. Raises: NotFound when it has none such; Forbidden."""
    require_role(access, Role.ADMIN)
    token = ApiToken.objects.filter(pk=token_id, user=row.user).first()
    if token is None:
        raise NotFound("Token", token_id)
    end_token(token, actor=access.user, ip=ip)


def access_service(access: TeamAccess, user_id: int) -> Membership:
    """Raises: NotFound for an account that the team has not; Forbidden below admin."""
    require_role(access, Role.ADMIN)
    rows = Membership.objects.filter(team=access.team, user__service_of=access.team)
    row = rows.select_related("user").filter(user=user_id).first()
    if row is None:
        raise NotFound("Service account", str(user_id))
    return row


def _require_role_to_give(access: TeamAccess, role: Role) -> None:
    if role == Role.OWNER or not has_role(access.role, role):
        raise Forbidden(_("A service account cannot have the role %(role)s.") % {"role": role.noun})


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS:
        raise Invalid(
            _("A name must have 1 to %(most)s characters.") % {"most": MAX_NAME_CHARS}, field="name"
        )
    return name


def _announce(row: Membership) -> None:
    transaction.on_commit(partial(publish, user_group(row.user_id), {"t": ACCESS_CHANGED}))


def _record(action: AuditAction, access: TeamAccess, row: Membership, ip: str | None) -> None:
    user = row.user
    data: JsonObject = {"name": user.name, "email": user.email, "role": str(row.role)}
    data["enabled"] = user.is_active
    record(action, actor=access.user, team=access.team, target=user, data=data, ip=ip)
