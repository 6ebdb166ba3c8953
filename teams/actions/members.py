from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, TeamAccess, access_group, has_role
from teams.audit import AuditAction, record
from teams.models import ApiToken, Invite, Membership, Role, Team, User

LAST_OWNER = gettext_noop("A team needs an owner. Make someone else an owner first.")


@transaction.atomic
def add_member(
    team: Team, *, user: User, role: Role, actor: User | None, ip: str | None = None
) -> Membership:
    """Put a person into a team without an invitation (bootstrap, accepting one).

    Raises: Conflict when the person is in it already.
    """
    membership, created = Membership.objects.get_or_create(
        team=team, user=user, defaults={"role": role}
    )
    if not created:
        raise Conflict(
            _("%(email)s is already a member of %(team)s.")
            % {"email": user.email, "team": team.name}
        )
    data: JsonObject = {"user": user.email, "role": role.value}
    record(AuditAction.MEMBER_JOINED, actor=actor, team=team, target=membership, data=data, ip=ip)
    return membership


@transaction.atomic
def change_role(
    membership: Membership, *, access: TeamAccess, role: Role, ip: str | None = None
) -> Membership:
    """Give a member another role.

    Raises: Invalid for a membership of another team; Forbidden when the member or the new role
    stands above the actor; Conflict for the last owner, and for an operator in an emergency.
    """
    current = _lock(membership, access)
    _refuse_temporary(current)
    if not has_role(access.role, role):
        raise Forbidden(_("Only an owner can make someone %(role)s.") % {"role": role.noun})
    if current.role == role:
        return current
    if current.role == Role.OWNER:
        refuse_last_owner(current)
    data: JsonObject = {"user": current.user.email, "before": current.role, "after": role.value}
    current.role = role
    current.save(update_fields=["role"])
    announce_access(current.team_id)
    revoke_invites_above(current)
    record(
        AuditAction.MEMBER_ROLE_CHANGED,
        actor=access.user,
        team=access.team,
        target=current,
        data=data,
        ip=ip,
    )
    return current


@transaction.atomic
def set_approver(
    membership: Membership, *, access: TeamAccess, is_approver: bool, ip: str | None = None
) -> Membership:
    """Have a member allow what needs a second person, or no longer.

    Raises: Invalid for a membership of another team, and for one who may not answer at all;
    Forbidden when the member stands above the actor.
    """
    current = _lock(membership, access)
    if is_approver and not has_role(Role(current.role), Role.MEMBER):
        raise Invalid(
            _("%(role)s cannot be an approver. Change the role first.")
            % {"role": Role(current.role).label}
        )
    if current.is_approver != is_approver:
        current.is_approver = is_approver
        current.save(update_fields=["is_approver"])
        data: JsonObject = {"user": current.user.email, "approver": is_approver}
        record(
            AuditAction.MEMBER_APPROVER_CHANGED,
            actor=access.user,
            team=access.team,
            target=current,
            data=data,
            ip=ip,
        )
    return current


@transaction.atomic
def remove_member(membership: Membership, *, access: TeamAccess, ip: str | None = None) -> None:
    """Take a person out of a team; tokens for it and open invitations by the person end too.

    Raises: Invalid for a membership of another team; Forbidden when the member stands above the
    actor; Conflict for the last owner.
    """
    end_membership(_lock(membership, access), AuditAction.MEMBER_REMOVED, actor=access.user, ip=ip)


@transaction.atomic
def leave_team(access: TeamAccess, *, ip: str | None = None) -> None:
    """Leave a team, as `remove_member` does it. Raises: Conflict for the last owner."""
    end_membership(
        _lock(access.membership, access), AuditAction.MEMBER_LEFT, actor=access.user, ip=ip
    )


def _lock(membership: Membership, access: TeamAccess) -> Membership:
    """The row as it is now, with all changes of owners in the team waiting behind this one."""
    # The team's row is the lock: two owners who leave at once must not both see the other one.
    Team.objects.select_for_update().get(pk=access.team.pk)
    current = (
        Membership.objects.select_related("team", "user")
        .filter(pk=membership.pk, team=access.team)
        .first()
    )
    if current is None:
        raise Invalid(_("This person is not a member of %(name)s.") % {"name": access.team.name})
    if not has_role(access.role, Role(current.role)):
        raise Forbidden(_("Only an owner can change another owner."))
    return current


def refuse_last_owner(membership: Membership) -> None:
    """Raises: Conflict for the only owner of a team who can still sign in."""
    # An operator in an emergency is soon gone.
    others = Membership.objects.filter(
        team=membership.team, role=Role.OWNER, expires_at=None, user__is_active=True
    )
    if not others.exclude(pk=membership.pk).exists():
        raise Conflict(_(LAST_OWNER))


def _refuse_temporary(membership: Membership) -> None:
    """Raises: Conflict for an operator in an emergency, whose role is in what the team was told."""
    if membership.expires_at is not None:
        raise Conflict(
            _("%(name)s is here for a limited time. End that first, then send an invitation.")
            % {"name": membership.user.display_name}
        )


def revoke_invites_above(membership: Membership) -> None:
    """End the open invitations that the member could not make any more in the present role.

    Whoever was demoted must not come back, or bring others, with more by a link made before.
    """
    role = Role(membership.role)
    beyond = [each for each in Role if not has_role(role, each)]
    made = Invite.objects.open().filter(team=membership.team, created_by=membership.user)
    if has_role(role, Role.ADMIN):
        made = made.filter(role__in=beyond)
    made.update(revoked_at=timezone.now())


def announce_access(team_id: str) -> None:
    """Have open connections to the team look again at who may see what, on commit."""
    transaction.on_commit(partial(publish, access_group(team_id), {"t": ACCESS_CHANGED}))


def change_views(team_id: str) -> None:
    """What somebody sees of a team's work has changed: like `announce_access`."""
    Team.objects.filter(pk=team_id).update(access_version=F("access_version") + 1)
    announce_access(team_id)


def end_credentials(membership: Membership) -> int:
    """End a person's tokens for a team and open invitations to it. Returns: how many tokens."""
    now = timezone.now()
    mine = ApiToken.objects.filter(team=membership.team, user=membership.user, revoked_at=None)
    invites = Invite.objects.open().filter(team=membership.team, created_by=membership.user)
    invites.update(revoked_at=now)
    return mine.update(revoked_at=now)


def end_membership(
    membership: Membership, action: AuditAction, *, actor: User | None, ip: str | None
) -> None:
    """Take a person out, with tokens and open invitations. Raises: Conflict for the last owner."""
    if membership.role == Role.OWNER:
        refuse_last_owner(membership)
    revoked = end_credentials(membership)
    data: JsonObject = {"user": membership.user.email, "tokens_revoked": revoked}
    record(action, actor=actor, team=membership.team, target=membership, data=data, ip=ip)
    membership.delete()
    announce_access(membership.team_id)
