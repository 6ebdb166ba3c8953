"""Tell the owners of a team by mail that an operator got into it: nobody may look at a page."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import partial
from smtplib import SMTPException

from celery import current_app
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from opencode_web.lib.public_url import site_origin
from teams.models import Membership, Role, Team, User

logger = logging.getLogger(__name__)


def mail_later(row: Membership) -> None:
    """Have the mail sent once the emergency access is committed, if there is a mail server."""
    if not settings.SMTP_URL or row.expires_at is None:
        return
    # Not read from the row, which is gone if the access ends at once.
    told = [row.team_id, row.user.email, row.role, row.reason, row.expires_at.isoformat()]
    transaction.on_commit(partial(_send, told))


def _send(told: list[str]) -> None:
    try:
        current_app.send_task("teams.mail_emergency", args=told, ignore_result=True)
    except OperationalError as exc:
        logger.error("mail.failed team=%s error=%s", told[0], type(exc).__name__)


def mail_owners(team: Team, *, operator: str, role: Role, reason: str, until: datetime) -> None:
    """Send the mail to each owner, in their language."""
    owners = User.objects.filter(
        memberships__team=team,
        memberships__role=Role.OWNER,
        is_active=True,
        service_of=None,
    )
    for owner in owners:
        with translation.override(owner.language or settings.LANGUAGE_CODE):
            subject = _("Emergency access to %(team)s") % {"team": " ".join(team.name.split())}
            names = {
                "team": team.name,
                "operator": operator,
                "role": role.label,
                "reason": reason,
                "time": f"{date_format(until, 'DATETIME_FORMAT')} UTC",
                "address": site_origin() + reverse("teams:members", args=[team.slug]),
            }
            text = render_to_string("account/emergency_mail.txt", names)
        try:
            send_mail(subject, text, settings.MAIL_FROM, [owner.email])
        except (OSError, SMTPException) as exc:
            logger.error("mail.failed user=%s error=%s", owner.pk, type(exc).__name__)
