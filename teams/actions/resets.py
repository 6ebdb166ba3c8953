"""Links with which a person sets a new password, for servers without mail."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import fingerprint, fingerprints
from opencode_web.lib.errors import Invalid, NotFound
from teams.actions.users import change_password
from teams.audit import AuditAction, record
from teams.models import ResetLink, User

LIFETIME = timedelta(hours=1)


class ResetUnusable(NotFound):
    """Expired, used or never there: the holder of a link cannot tell which."""

    def __init__(self) -> None:
        super().__init__("Page")
        self.message = _("This link is no longer valid. Ask an operator for a new one.")
        self.args = (self.message,)


@transaction.atomic
def create_reset(user: User, *, actor: User | None, ip: str | None = None) -> str:
    """Make a link for one person; earlier ones of theirs stop working.

    `actor` is an operator, or None for the command line of the server.

    Returns: the secret, which is nowhere else and cannot be shown again.
    Raises: Invalid for service accounts and disabled ones.
    """
    if user.service_of_id is not None or not user.is_active:
        raise Invalid(_("This account cannot sign in with a password."))
    ResetLink.objects.filter(user=user).delete()
    secret = secrets.token_urlsafe(32)
    ResetLink.objects.create(
        user=user, digest=fingerprint(secret), expires_at=timezone.now() + LIFETIME
    )
    record(AuditAction.RESET_CREATED, actor=actor, team=None, target=user, ip=ip)
    return secret


def find_reset(secret: str) -> ResetLink:
    """Raises: ResetUnusable, with one sentence for all reasons."""
    rows = ResetLink.objects.select_related("user").filter(
        digest__in=fingerprints(secret),
        used_at=None,
        expires_at__gt=timezone.now(),
        user__is_active=True,
    )
    row = rows.first()
    if row is None:
        raise ResetUnusable
    return row


@transaction.atomic
def use_reset(link: ResetLink, *, password: str, ip: str | None = None) -> User:
    """Set the new password, once; browsers that are signed in are signed out by it.

    Raises: ResetUnusable when it was used or has expired meanwhile; Invalid for a weak password.
    """
    now = timezone.now()
    unused = ResetLink.objects.filter(pk=link.pk, used_at=None, expires_at__gt=now)
    # The conditional update is the claim: of two uses at once one changes the row.
    if not unused.update(used_at=now):
        raise ResetUnusable
    return change_password(link.user, password=password, ip=ip)
