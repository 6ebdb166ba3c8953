"""Which of our people wrote a comment.

Nobody is believed by name. A person gets a code here, and writes it in a comment: so the forge
says, under its signature, which account is theirs. Others can read the comment and be quicker, so
the account counts only once its person has confirmed it here. A code is used once.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from sessions.models import Integration, LinkedAccount
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Membership, Role, Team, User

CODE_TTL = timedelta(minutes=15)
# No letters and digits that look alike.
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_CODE_CHARS = 12
CODE = re.compile(rf"[{_ALPHABET}]{{{_CODE_CHARS}}}", re.IGNORECASE)


@transaction.atomic
def make_code(access: TeamAccess) -> str:
    """Returns: a code for a comment of the account that is to be linked. The one before is void.

    Raises: Forbidden below member.
    """
    require_role(access, Role.MEMBER)
    user, team = access.user, access.team
    LinkedAccount.objects.filter(team=team, user=user, linked_at=None).delete()
    code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_CHARS))
    until = timezone.now() + CODE_TTL
    LinkedAccount.objects.create(team=team, user=user, code_digest=_digest(code), code_until=until)
    return code


@transaction.atomic
def propose_link(team: Team, code: str, *, host: str, outside_id: str, name: str) -> bool:
    """Note which account has written a code, for its person to confirm.

    Returns: False for a code that is unknown, used or too old.
    """
    rows = LinkedAccount.objects.select_for_update(of=("self",)).select_related("user")
    row = rows.filter(
        team=team, code_digest=_digest(code.upper()), code_until__gt=timezone.now()
    ).first()
    if row is None:
        return False
    row.host, row.outside_id, row.name = host, outside_id, name
    row.code_digest = ""
    row.save()
    return True


@transaction.atomic
def confirm_link(access: TeamAccess, linked_id: int) -> None:
    """Have an account count as one's own. It is then nobody else's any more.

    Raises: NotFound for one that did not write the caller's code, or not in time; Forbidden.
    """
    require_role(access, Role.MEMBER)
    row = proposed_links(access).filter(pk=linked_id).first()
    if row is None:
        raise NotFound("Account")
    others = LinkedAccount.objects.filter(
        team=row.team_id, host=row.host, outside_id=row.outside_id
    )
    others.exclude(pk=row.pk).delete()
    row.code_until, row.linked_at = None, timezone.now()
    row.save()
    _record(AuditAction.ACCOUNT_LINKED, access.team, row, actor=access.user)


def proposed_links(access: TeamAccess) -> QuerySet[LinkedAccount]:
    """Returns: what has written the caller's code and is not confirmed."""
    rows = LinkedAccount.objects.filter(team=access.team, user=access.user)
    return rows.filter(linked_at=None, code_until__gt=timezone.now()).exclude(outside_id="")


@transaction.atomic
def unlink(access: TeamAccess, linked_id: int) -> None:
    """End one's own link, or as an admin anybody's. Raises: NotFound."""
    rows = linked_accounts(access)
    row = rows.filter(pk=linked_id).first()
    if row is None:
        raise NotFound("Account")
    _record(AuditAction.ACCOUNT_UNLINKED, access.team, row, actor=access.user)
    row.delete()


def linked_accounts(access: TeamAccess) -> QuerySet[LinkedAccount]:
    """Returns: one's own, and for admins everybody's."""
    rows = LinkedAccount.objects.filter(team=access.team, linked_at__isnull=False)
    if not access.can(Role.ADMIN):
        rows = rows.filter(user=access.user)
    return rows.select_related("user").order_by("name", "pk")


def person_of(
    integration: Integration, team: Team, *, host: str, outside_id: str, is_trusted: bool
) -> User | None:
    """Returns: in whose name a comment counts; None for nobody's."""
    user = linked_person(team, host=host, outside_id=outside_id)
    if user is not None:
        return user
    return usable_account(integration.account if is_trusted else None, team)


def linked_person(team: Team, *, host: str, outside_id: str) -> User | None:
    """Returns: whose account of a forge it is."""
    rows = LinkedAccount.objects.filter(team=team, host=host, outside_id=outside_id)
    row = rows.filter(linked_at__isnull=False).select_related("user").first()
    return row.user if row else None


def usable_account(account: User | None, team: Team) -> User | None:
    """Returns: a service account, unless it is disabled or gone from the team."""
    if account is None or not account.is_active:
        return None
    is_member = Membership.objects.current().filter(team=team, user=account).exists()
    return account if is_member else None


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _record(action: AuditAction, team: Team, row: LinkedAccount, *, actor: User) -> None:
    data = {"name": row.name, "host": row.host, "member": row.user.display_name}
    record(action, actor=actor, team=team, target=row.user, data=dict(data))
