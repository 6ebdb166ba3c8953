"""Memberships that follow what an identity provider says about a person."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from django.db import transaction

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject
from teams.actions.members import (
    add_member,
    announce_access,
    end_membership,
    refuse_last_owner,
    revoke_invites_above,
)
from teams.audit import AuditAction, record
from teams.models import IdentityProvider, ManagedMembership, Membership, Role, Team, User

logger = logging.getLogger(__name__)

# Of several roles the last one counts.
_RANKS = (Role.BILLING, Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OWNER)


def higher_role(left: Role | None, right: Role) -> Role:
    """Returns: the one that allows more."""
    return right if left is None else max(left, right, key=_RANKS.index)


@transaction.atomic
def apply_roles(
    user: User,
    *,
    provider: IdentityProvider,
    roles: Mapping[str, Role | None],
    ip: str | None = None,
) -> None:
    """Give a person the roles that a provider's rules say, by the teams' ids; None for no role.

    Memberships that people gave, by an invitation or by hand, stay as they are. A team keeps its
    last owner whatever the rules say.
    """
    for team in Team.objects.select_for_update().filter(pk__in=roles).order_by("pk"):
        rows = Membership.objects.select_related("team", "user").filter(team=team, user=user)
        _apply(rows.first(), team, user, roles[team.pk], provider, ip)


def _apply(
    row: Membership | None,
    team: Team,
    user: User,
    role: Role | None,
    provider: IdentityProvider,
    ip: str | None,
) -> None:
    if row is None:
        if role is not None:
            made = add_member(team, user=user, role=role, actor=None, ip=ip)
            ManagedMembership.objects.create(membership=made, provider=provider)
            announce_access(team.pk)
        return
    managed = ManagedMembership.objects.filter(membership=row, provider=provider)
    if row.role == role or not managed.exists():
        return
    try:
        if role is None:
            end_membership(row, AuditAction.MEMBER_REMOVED, actor=None, ip=ip)
            return
        if row.role == Role.OWNER:
            refuse_last_owner(row)
    except Conflict:
        logger.warning("identity.last_owner_kept user=%s team=%s", user.pk, team.pk)
        return
    data: JsonObject = {"user": user.email, "before": row.role, "after": role.value}
    row.role = role
    row.save(update_fields=["role"])
    announce_access(team.pk)
    revoke_invites_above(row)
    record(AuditAction.MEMBER_ROLE_CHANGED, actor=None, team=team, target=row, data=data, ip=ip)
