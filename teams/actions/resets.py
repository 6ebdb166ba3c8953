"""Links with which a person sets a new password: of an operator, or by mail where it is set up."""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import fingerprint, fingerprints
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.public_url import site_origin
from teams.actions.users import change_password
from teams.audit import AuditAction, record
from teams.models import ResetLink, User

logger = logging.getLogger(__name__)

LIFETIME = timedelta(hours=1)
# Whoever asks again sooner gets no other mail: anybody can ask for anybody.
_PAUSE = timedelta(minutes=5)


class ResetUnusable(NotFound):
    """Expired, used or never there: the holder of a link cannot tell which."""

    def __init__(self) -> None:
        super().__init__("Page")
        self.message = _("This link is no longer valid. Ask for a new one.")
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
    return _create_link(user, actor=actor, ip=ip)[1]


def mail_reset(email: str) -> None:
    """Send a link to whoever has a password here; earlier ones go on working.

    Nothing says whether it was sent, for whoever asks need not be who gets it.
    """
    user = User.objects.filter(email__iexact=email, is_active=True, service_of=None).first()
    if user is None or not user.has_usable_password():
        return
    with transaction.atomic():
        # Of two that ask at once, one gets a mail.
        User.objects.select_for_update().get(pk=user.pk)
        if ResetLink.objects.filter(user=user, created_at__gt=timezone.now() - _PAUSE).exists():
            return
        link, secret = _create_link(user, actor=None)
    address = site_origin() + reverse("reset", args=[secret])
    with translation.override(user.language or settings.LANGUAGE_CODE):
        subject = _("Reset your password for OpenCode Web")
        text = render_to_string("account/reset_mail.txt", {"address": address, "user": user})
    try:
        send_mail(subject, text, settings.MAIL_FROM, [user.email])
    except (OSError, SMTPException) as exc:
        # Another one can be asked for at once.
        link.delete()
        # Its text can have the address.
        logger.error("mail.failed user=%s error=%s", user.pk, type(exc).__name__)


def _create_link(user: User, *, actor: User | None, ip: str | None = None) -> tuple[ResetLink, str]:
    secret = secrets.token_urlsafe(32)
    link = ResetLink.objects.create(
        user=user, digest=fingerprint(secret), expires_at=timezone.now() + LIFETIME
    )
    record(AuditAction.RESET_CREATED, actor=actor, team=None, target=user, ip=ip)
    return link, secret


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
