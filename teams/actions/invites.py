from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import fingerprint, fingerprints
from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, has_role, require_lasting
from teams.actions.members import add_member
from teams.actions.users import create_user
from teams.audit import AuditAction, record
from teams.models import FormerKey, Invite, Membership, Role, User

DEFAULT_LIFETIME = timedelta(days=7)
MAX_LIFETIME = timedelta(days=30)
UNUSABLE = gettext_noop(
    "This invitation is no longer valid. Ask the person who sent it for a new link."
)


@transaction.atomic
def create_invite(
    access: TeamAccess,
    *,
    role: Role,
    email: str = "",
    lifetime: timedelta = DEFAULT_LIFETIME,
    ip: str | None = None,
) -> tuple[Invite, str]:
    """Invite one person.

    Returns: the row and its secret, which is nowhere else and cannot be shown again.
    Raises: Forbidden when the role stands above the actor's, and for an operator in an emergency;
    Invalid for a lifetime out of range; Conflict for the address of a member.
    """
    require_lasting(access)
    if not has_role(access.role, role):
        raise Forbidden(_("Only an owner can invite someone as %(role)s.") % {"role": role.noun})
    if not timedelta() < lifetime <= MAX_LIFETIME:
        raise Invalid(
            _("An invitation can be valid for at most %(days)s days.") % {"days": MAX_LIFETIME.days}
        )
    email = email.strip().lower()
    if email and Membership.objects.filter(team=access.team, user__email__iexact=email).exists():
        told = {"email": email, "team": access.team.name}
        raise Conflict(_("%(email)s is already a member of %(team)s.") % told)
    secret = secrets.token_urlsafe(32)
    invite = Invite.objects.create(
        team=access.team,
        digest=fingerprint(secret),
        role=role,
        email=email,
        created_by=access.user,
        expires_at=timezone.now() + lifetime,
    )
    data: JsonObject = {"role": role.value, "email": invite.email}
    record(
        AuditAction.INVITE_CREATED,
        actor=access.user,
        team=access.team,
        target=invite,
        data=data,
        ip=ip,
    )
    return invite, secret


@transaction.atomic
def revoke_invite(invite: Invite, *, access: TeamAccess, ip: str | None = None) -> Invite:
    """End an invitation. Revoking it again changes nothing.

    Raises: NotFound for one of another team; Conflict when somebody has used it.
    """
    if invite.team_id != access.team.pk:
        raise NotFound("Invitation", invite.pk)
    now = timezone.now()
    unused = Invite.objects.filter(pk=invite.pk, accepted_at=None)
    if unused.filter(revoked_at=None).update(revoked_at=now):
        invite.revoked_at = now
        record(
            AuditAction.INVITE_REVOKED, actor=access.user, team=access.team, target=invite, ip=ip
        )
    elif not unused.exists():
        raise Conflict(_("This invitation has already been used. Remove the member instead."))
    return invite


def find_invite(secret: str) -> Invite:
    """Look an invitation up by the secret of its link.

    Raises: NotFound, with one sentence for all reasons, when it cannot be used (any more).
    """
    rows = Invite.objects.open().select_related("team", "created_by")
    invite = rows.filter(digest__in=fingerprints(secret)).first()
    if invite is None:
        invite = rows.filter(digest__in=FormerKey.objects.fingerprints(secret)).first()
    if invite is None:
        raise InviteUnusable
    return invite


class InviteUnusable(NotFound):
    """Expired, used, revoked or never there: the holder of a link cannot tell which."""

    def __init__(self) -> None:
        super().__init__("Invitation")
        self.message = _(UNUSABLE)
        self.args = (self.message,)


@transaction.atomic
def accept_invite(invite: Invite, *, user: User, ip: str | None = None) -> Membership:
    """Let a person who has an account join.

    Raises: InviteUnusable when it cannot be used any more; Forbidden when it is for another
    address; Conflict when the person is in the team already. The link stays usable on the last two.
    """
    if invite.email and invite.email != user.email.lower():
        raise Forbidden(
            _("This invitation is for %(email)s, but you are signed in as %(own)s.")
            % {"email": invite.email, "own": user.email}
        )
    # The conditional update is the claim: of two acceptances at once one changes the row.
    claimed = (
        Invite.objects.open()
        .filter(pk=invite.pk)
        .update(accepted_at=timezone.now(), accepted_by=user)
    )
    if not claimed:
        raise InviteUnusable
    membership = add_member(invite.team, user=user, role=Role(invite.role), actor=user, ip=ip)
    record(AuditAction.INVITE_ACCEPTED, actor=user, team=invite.team, target=invite, ip=ip)
    return membership


@transaction.atomic
def accept_invite_as_new(
    invite: Invite, *, email: str, name: str, password: str, ip: str | None = None
) -> Membership:
    """Make an account for the holder of the link and let it join: both or neither.

    Raises: what `create_user` and `accept_invite` raise.
    """
    user = create_user(invite.email or email, name=name, password=password, ip=ip)
    return accept_invite(invite, user=user, ip=ip)
