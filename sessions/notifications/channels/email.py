from __future__ import annotations

import asyncio
import smtplib

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.public_url import site_origin
from sessions.models import NotificationKind, PushSubscription
from sessions.notifications.channels.base import Message, OneAddress, Result
from teams.models import User


class EmailChannel(OneAddress):
    """Through the server that SMTP_URL names."""

    name = "email"
    label = gettext_lazy("E-mail")
    usual_kinds: frozenset[NotificationKind] = frozenset()

    def unavailable(self, user: User) -> str:
        if settings.EMAIL_HOST and settings.PUBLIC_URL:
            return ""
        return _("This server does not send e-mail. An operator can set SMTP_URL and PUBLIC_URL.")

    async def send(self, user: User, device: PushSubscription | None, message: Message) -> Result:
        return await asyncio.to_thread(_send, user, message)


def _send(user: User, message: Message) -> Result:
    origin = site_origin()
    context = {
        "lines": [(line.text, origin + line.path) for line in message.lines],
        "settings_url": origin + reverse("own_notifications"),
    }
    with translation.override(user.language or settings.LANGUAGE_CODE):
        text = render_to_string("sessions/notification_mail.txt", context)
    try:
        subject = message.title or message.lines[0].text
        # A title has no line breaks, or the header would be refused.
        send_mail(" ".join(subject.split()), text, settings.MAIL_FROM, [user.email])
    except smtplib.SMTPRecipientsRefused as exc:
        codes = [code for code, _ in exc.recipients.values()]
        # 4xx is for later, as with greylisting.
        return Result("The address was refused.", is_final=all(code >= 500 for code in codes))
    except (OSError, smtplib.SMTPException) as exc:
        # Its text can have the address.
        return Result(type(exc).__name__)
    return Result()
