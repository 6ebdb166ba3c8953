"""What people are told of, and the browsers that take it while no page is open."""

from __future__ import annotations

import hashlib

from allauth.usersessions.models import UserSession
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Invalid, NotFound
from sessions.models import PushSubscription
from teams.browser import BrowserSession
from teams.models import User


@transaction.atomic
def subscribe_browser(
    user: User, browser: BrowserSession | None, *, endpoint: str, p256dh: str, auth: str
) -> PushSubscription:
    """Have messages sent to a signed-in browser; the newest subscription of it counts.

    Raises: Invalid for a sign-in that is not one of a browser.
    """
    rows = UserSession.objects.filter(user=user, session_key=browser.key if browser else "")
    row = rows.select_for_update().first()
    if row is None:
        raise Invalid(_("This sign-in is not stored. Sign in again."))
    digest = hashlib.sha256(endpoint.encode()).hexdigest()
    # Somebody else may have been signed in here: the browser is theirs no more.
    PushSubscription.objects.filter(digest=digest).exclude(browser=row).delete()
    fields = {
        "digest": digest,
        "endpoint": encrypt(endpoint),
        "p256dh": p256dh,
        "auth": encrypt(auth),
        "created_at": timezone.now(),
    }
    return PushSubscription.objects.update_or_create(browser=row, defaults=fields)[0]


def unsubscribe_browser(user: User, subscription_id: int) -> PushSubscription:
    """Send it nothing more. Raises: NotFound for another person's or an unknown one."""
    rows = PushSubscription.objects.select_related("browser")
    row = rows.filter(pk=subscription_id, browser__user=user).first()
    if row is None:
        raise NotFound("Browser")
    PushSubscription.objects.filter(pk=row.pk).delete()
    return row
