"""What a directory that speaks SCIM does to accounts and groups, and the keys it has.

The callers judge the shape of what it says. An account that it makes has no password.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import fingerprint, fingerprints
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject
from teams.access import require_operator
from teams.actions.accounts import lock_account
from teams.actions.identity import add_rule, remove_rule
from teams.actions.managed_members import apply_roles, higher_role
from teams.audit import AuditAction, record
from teams.models import (
    DirectoryAccount,
    DirectoryGroup,
    DirectoryToken,
    FormerKey,
    IdentityProvider,
    IdentityRule,
    ManagedMembership,
    ResetLink,
    Role,
    Team,
    User,
)

_SECRET_PREFIX = "ocs_"  # noqa: S105 - the visible head that secret scanners look for
_PREFIX_CHARS = len(_SECRET_PREFIX) + 8
_TOUCH_INTERVAL = timedelta(minutes=1)
GROUP_CLAIM = "groups"


class Taken(Conflict):
    """Somebody else has the name, the address or the ID."""


@dataclass(frozen=True)
class AccountDraft:
    """What the directory says of a person."""

    user_name: str
    external_id: str
    email: str
    name: str
    data: JsonObject


def directory_provider() -> IdentityProvider:
    """The row whose rules give members of groups their roles. It is made when it is asked for."""
    kind = IdentityProvider.Kind.SCIM
    row = IdentityProvider.objects.filter(kind=kind).first()
    if row is not None:
        return row
    defaults = {"kind": kind, "name": "SCIM", "is_enabled": False}
    return IdentityProvider.objects.get_or_create(slug="scim-directory", defaults=defaults)[0]


@transaction.atomic
def create_directory_token(
    operator: User, *, name: str, ip: str | None = None
) -> tuple[DirectoryToken, str]:
    """Make a key for the directory.

    Returns: the row and its secret, which is nowhere else and cannot be shown again.
    Raises: Forbidden for others than operators.
    """
    require_operator(operator)
    secret = _SECRET_PREFIX + secrets.token_urlsafe(32)
    row = DirectoryToken.objects.create(
        name=name, prefix=secret[:_PREFIX_CHARS], digest=fingerprint(secret), created_by=operator
    )
    data: JsonObject = {"name": name, "prefix": row.prefix}
    action = AuditAction.DIRECTORY_TOKEN_CREATED
    record(action, actor=operator, team=None, target=row, data=data, ip=ip)
    return row, secret


@transaction.atomic
def revoke_directory_token(
    operator: User, row: DirectoryToken, *, ip: str | None = None
) -> DirectoryToken:
    """End a key at once. Doing it again changes nothing. Raises: Forbidden."""
    require_operator(operator)
    now = timezone.now()
    if DirectoryToken.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=now):
        data: JsonObject = {"name": row.name, "prefix": row.prefix}
        action = AuditAction.DIRECTORY_TOKEN_REVOKED
        record(action, actor=operator, team=None, target=row, data=data, ip=ip)
    return row


def find_directory_token(secret: str) -> DirectoryToken | None:
    """Returns: the live key of this secret, and notes that it is in use."""
    if not secret.startswith(_SECRET_PREFIX):
        return None
    digests = [*fingerprints(secret), *FormerKey.objects.fingerprints(secret)]
    row = DirectoryToken.objects.filter(digest__in=digests, revoked_at=None).first()
    if row is not None:
        now = timezone.now()
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - _TOUCH_INTERVAL)
        DirectoryToken.objects.filter(stale, pk=row.pk).update(last_used_at=now)
    return row


@transaction.atomic
def create_directory_account(draft: AccountDraft, *, ip: str | None = None) -> User:
    """Make an account, or take up again one that the directory has deleted.

    Raises: Taken.
    """
    former = DirectoryAccount.objects.filter(user_name=draft.user_name.lower(), is_deleted=True)
    known = former.select_related("user").first()
    if known is not None:
        known.is_deleted = False
        known.save(update_fields=["is_deleted"])
        return update_directory_account(known.user, draft, ip=ip)
    _refuse_taken(draft, None)
    user = User(email=draft.email, name=draft.name)
    user.set_unusable_password()
    user.save()
    _keep(user, draft)
    data: JsonObject = {"provider": "scim"}
    record(AuditAction.USER_CREATED, actor=None, team=None, target=user, data=data, ip=ip)
    return user


@transaction.atomic
def update_directory_account(user: User, draft: AccountDraft, *, ip: str | None = None) -> User:
    """Bring name and address to what the directory says.

    Raises: Taken; Conflict for the address of an operator.
    """
    account = lock_account(user.pk)
    _refuse_taken(draft, account)
    before: JsonObject = {"name": account.name, "email": account.email}
    after: JsonObject = {"name": draft.name, "email": draft.email}
    if before["email"] != after["email"] and account.is_superuser:
        # The address is what a reset link is sent to.
        raise Conflict(_("The address of an operator can be changed only on this server."))
    account.name, account.email = draft.name, draft.email
    account.save(update_fields=["name", "email"])
    if before["email"] != after["email"]:
        # Whoever reads the mail of the old address is not let in by it.
        ResetLink.objects.filter(user=account, used_at=None).delete()
    _keep(account, draft)
    if before != after:
        data: JsonObject = {"before": before, "after": after}
        record(AuditAction.USER_UPDATED, actor=None, team=None, target=account, data=data, ip=ip)
    return account


@transaction.atomic
def forget_directory_account(user: User) -> None:
    """Have the directory find the account no more. The caller deactivates it."""
    row, _made = DirectoryAccount.objects.get_or_create(
        user=user, defaults={"user_name": user.email.lower()}
    )
    DirectoryAccount.objects.filter(pk=row.pk).update(is_deleted=True, external_id="")
    groups = list(DirectoryGroup.objects.filter(members=user))
    for group in groups:
        group.members.remove(user)
    follow_groups([user])


@transaction.atomic
def save_directory_group(
    group: DirectoryGroup, *, members: Collection[int], ip: str | None = None
) -> DirectoryGroup:
    """Store a new or changed group, and give its members the roles that its name stands for.

    Raises: Taken; Invalid for members who are no accounts.
    """
    others = DirectoryGroup.objects.exclude(pk=group.pk)
    if others.filter(name=group.name).exists():
        raise Taken(_("There is already a group with this name."))
    people = set(User.objects.filter(pk__in=members, service_of=None).values_list("pk", flat=True))
    if len(people) != len(set(members)):
        raise Invalid(_("A member of the group has no account here."))
    stored = DirectoryGroup.objects.select_for_update().filter(pk=group.pk).first()
    before = set(stored.members.values_list("pk", flat=True)) if stored else set()
    group.updated_at = timezone.now()
    group.save()
    group.members.set(people)
    is_renamed = stored is not None and stored.name != group.name
    follow_groups(User.objects.filter(pk__in=before | people if is_renamed else before ^ people))
    data: JsonObject = {
        "name": group.name,
        "added": len(people - before),
        "removed": len(before - people),
    }
    action = AuditAction.DIRECTORY_GROUP_SAVED
    record(action, actor=None, team=None, target=group, data=data, ip=ip)
    return group


@transaction.atomic
def delete_directory_group(group: DirectoryGroup, *, ip: str | None = None) -> None:
    """Remove a group with the roles that it gave."""
    people = list(group.members.all())
    data: JsonObject = {"name": group.name}
    action = AuditAction.DIRECTORY_GROUP_DELETED
    record(action, actor=None, team=None, target=group, data=data, ip=ip)
    group.delete()
    follow_groups(people)


@transaction.atomic
def add_directory_rule(
    operator: User, *, group: str, team: Team, role: Role, ip: str | None = None
) -> IdentityRule:
    """Give the members of a group a role in a team, now and whenever the group changes.

    Raises: as `add_rule`.
    """
    provider = directory_provider()
    rule = IdentityRule(provider=provider, claim=GROUP_CLAIM, value=group, team=team, role=role)
    add_rule(operator, rule, ip=ip)
    follow_groups(User.objects.filter(directory_groups__name=group))
    return rule


@transaction.atomic
def remove_directory_rule(operator: User, rule: IdentityRule, *, ip: str | None = None) -> None:
    """Take a rule away, with the roles that it gave. Raises: Forbidden."""
    remove_rule(operator, rule, ip=ip)
    follow_groups(User.objects.filter(directory_groups__name=rule.value))


@transaction.atomic
def follow_groups(people: Iterable[User]) -> None:
    """Bring the memberships of people to what the rules say of their groups now.

    Costs five queries, and more only for whom something changes.
    """
    provider = directory_provider()
    rules = list(provider.rules.all())
    # In one order, whoever is looked at first: another request may have them as well.
    teams = Team.objects.select_for_update().filter(pk__in=[rule.team_id for rule in rules])
    list(teams.order_by("pk").values_list("pk"))
    found = User.objects.filter(pk__in=[user.pk for user in people])
    managed: dict[int, dict[str, Role]] = defaultdict(dict)
    rows = ManagedMembership.objects.filter(provider=provider, membership__user__in=found)
    for row in rows.select_related("membership"):
        managed[row.membership.user_id][row.membership.team_id] = Role(row.membership.role)
    for user in found.prefetch_related("directory_groups"):
        names = {group.name for group in user.directory_groups.all()}
        roles: dict[str, Role | None] = dict.fromkeys(managed[user.pk])
        for rule in rules:
            if rule.value in names:
                roles[rule.team_id] = higher_role(roles.get(rule.team_id), Role(rule.role))
        if roles != managed[user.pk]:
            apply_roles(user, provider=provider, roles=roles)


def _keep(user: User, draft: AccountDraft) -> None:
    DirectoryAccount.objects.update_or_create(
        user=user,
        defaults={
            "user_name": draft.user_name.lower(),
            "external_id": draft.external_id,
            "data": draft.data,
            "updated_at": timezone.now(),
        },
    )


def _refuse_taken(draft: AccountDraft, own: User | None) -> None:
    people = User.objects.exclude(pk=own.pk) if own else User.objects.all()
    if people.filter(email__iexact=draft.email).exists():
        raise Taken(_("There is already an account for %(email)s.") % {"email": draft.email})
    rows = DirectoryAccount.objects.exclude(pk=own.pk) if own else DirectoryAccount.objects.all()
    same = Q(user_name=draft.user_name.lower())
    if draft.external_id:
        same |= Q(external_id=draft.external_id)
    if rows.filter(same).exists():
        raise Taken(_("Another account has this userName or externalId."))
