"""Locking people out and letting them in again, and who operates the server.

`actor` is an operator. It is None for the command line and for a directory that speaks SCIM.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import Conflict, Forbidden
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, operators, require_operator, user_group
from teams.actions.break_glass import end_break_glass
from teams.actions.browsers import end_browsers
from teams.actions.members import announce_access
from teams.actions.tokens import end_token
from teams.audit import AuditAction, clean_reason, record
from teams.models import ApiToken, Invite, Membership, ResetLink, Role, Team, User


@transaction.atomic
def deactivate_account(
    user: User, *, actor: User | None, reason: str, ip: str | None = None
) -> User:
    """Lock a person out: browsers, API tokens, reset links and open invitations by them end.

    Memberships stay, so that reactivating gives them back. Work that runs is ended by
    `sessions.actions.people`. Doing it again changes nothing.

    Raises: Conflict for the actor's own account and for the last active operator; Forbidden for
    others than operators, and for service accounts; Invalid without a reason.
    """
    why = clean_reason(reason)
    account = _lock(user, actor)
    if not account.is_active:
        return account
    if account.is_superuser:
        _refuse_last_operator(account)
    # Before the account is changed: afterwards none counts as signed in.
    ended = _end_sign_ins(account)
    account.is_active, account.is_locked = False, actor is not None
    account.save(update_fields=["is_active", "is_locked"])
    ResetLink.objects.filter(user=account).delete()
    Invite.objects.open().filter(created_by=account).update(revoked_at=timezone.now())
    data: JsonObject = {"reason": why, **ended}
    record(AuditAction.USER_DEACTIVATED, actor=actor, team=None, target=account, data=data, ip=ip)
    _announce(account)
    return account


@transaction.atomic
def reactivate_account(
    user: User, *, actor: User | None, reason: str, ip: str | None = None
) -> User:
    """Let a person in again. What was revoked or paused stays so. Doing it again changes nothing,
    nor does it for a directory where an operator has locked the person out.

    Raises: Forbidden for others than operators, and for service accounts; Invalid without a reason.
    """
    data: JsonObject = {"reason": clean_reason(reason)}
    account = _lock(user, actor, own=True)
    if not account.is_active and not (account.is_locked and actor is None):
        account.is_active, account.is_locked = True, False
        account.save(update_fields=["is_active", "is_locked"])
        record(
            AuditAction.USER_REACTIVATED, actor=actor, team=None, target=account, data=data, ip=ip
        )
    return account


@transaction.atomic
def sign_out_account(user: User, *, actor: User, reason: str, ip: str | None = None) -> User:
    """End every browser session and API token of a person, who can sign in again at once.

    Raises: Forbidden for others than operators, and for service accounts; Invalid without a reason.
    """
    why = clean_reason(reason)
    account = _lock(user, actor, own=True)
    data: JsonObject = {"reason": why, **_end_sign_ins(account)}
    record(AuditAction.USER_SIGNED_OUT, actor=actor, team=None, target=account, data=data, ip=ip)
    _announce(account)
    return account


@transaction.atomic
def revoke_made_tokens(user: User, *, actor: User, reason: str, ip: str | None = None) -> User:
    """End every token of service accounts that a person has made. The accounts stay.

    Raises: as `sign_out_account`.
    """
    why = clean_reason(reason)
    account = _lock(user, actor, own=True)
    for token in ApiToken.objects.made_for_services(account).select_related("team"):
        end_token(token, actor=actor, reason=why, ip=ip)
    return account


@transaction.atomic
def set_operator(
    user: User, *, operates: bool, actor: User, reason: str, ip: str | None = None
) -> User:
    """Make a person an operator of this server, or no longer.

    Raises: Conflict for the actor's own account, for the last active operator, and for an account
    that is deactivated; Forbidden for others than operators, and for service accounts; Invalid
    without a reason.
    """
    data: JsonObject = {"reason": clean_reason(reason)}
    account = _lock(user, actor)
    if account.is_superuser == operates:
        return account
    if not operates:
        _refuse_last_operator(account)
    elif not account.is_active:
        raise Conflict(_("Reactivate the account first."))
    account.is_superuser = account.is_staff = operates
    account.save(update_fields=["is_superuser", "is_staff"])
    if not operates:
        for row in Membership.objects.filter(user=account).exclude(expires_at=None):
            end_break_glass(row, by=actor, ip=ip)
    action = AuditAction.USER_MADE_OPERATOR if operates else AuditAction.USER_NO_OPERATOR
    record(action, actor=actor, team=None, target=account, data=data, ip=ip)
    _announce(account)
    return account


def ownerless_teams() -> QuerySet[Team]:
    """Returns: the teams by name whose owners are all deactivated."""
    active = Membership.objects.filter(
        team=OuterRef("pk"), role=Role.OWNER, expires_at=None, user__is_active=True
    )
    return Team.objects.exclude(Exists(active)).order_by("name", "pk")


@transaction.atomic
def appoint_owner(
    member: Membership, *, actor: User, reason: str, ip: str | None = None
) -> Membership:
    """Make a member the owner of a team whose owners are all deactivated.

    Raises: Conflict for a team that has an active owner, and for a member who cannot be one;
    Forbidden for others than operators; Invalid without a reason.
    """
    why = clean_reason(reason)
    require_operator(actor)
    # The lock of all changes of owners, as in `members`.
    team = Team.objects.select_for_update().get(pk=member.team_id)
    if not ownerless_teams().filter(pk=team.pk).exists():
        raise Conflict(_("This team has an active owner, who can make others owners."))
    current = Membership.objects.select_related("user").get(pk=member.pk)
    user = current.user
    if not user.is_active or user.service_of_id is not None or current.expires_at is not None:
        raise Conflict(_("%(name)s cannot own a team.") % {"name": user.display_name})
    data: JsonObject = {"user": user.email, "before": current.role, "after": Role.OWNER.value}
    data["reason"] = why
    current.role = Role.OWNER
    current.save(update_fields=["role"])
    action = AuditAction.MEMBER_ROLE_CHANGED
    record(action, actor=actor, team=team, target=current, data=data, ip=ip)
    announce_access(team.pk)
    return current


def lock_account(user_id: int) -> User:
    """Returns: the account as it is now, with all changes of operators waiting behind this one.

    Must run inside a transaction. Raises: User.DoesNotExist.
    """
    # All rows in one order: two operators who lock each other out must not both succeed.
    rows = User.objects.select_for_update().order_by("pk")
    list(rows.filter(is_superuser=True).values_list("pk"))
    return rows.get(pk=user_id)


def _lock(user: User, actor: User | None, *, own: bool = False) -> User:
    if actor is not None:
        require_operator(actor)
    if actor is not None and actor.pk == user.pk and not own:
        raise Conflict(_("You cannot do this to your own account. Ask another operator."))
    account = lock_account(user.pk)
    if account.service_of_id is not None:
        raise Forbidden(_("Service accounts are managed by the admins of their team."))
    return account


def _refuse_last_operator(account: User) -> None:
    if not operators().exclude(pk=account.pk).exists():
        raise Conflict(_("The server needs an operator. Make someone else an operator first."))


def _end_sign_ins(account: User) -> JsonObject:
    """Returns: how many browsers and API tokens it ended."""
    live = ApiToken.objects.live().filter(user=account)
    revoked = live.update(revoked_at=timezone.now())
    return {"browsers": end_browsers(account), "tokens_revoked": revoked}


def _announce(account: User) -> None:
    transaction.on_commit(partial(publish, user_group(account.pk), {"t": ACCESS_CHANGED}))
