"""Where people are told of things while no page is open: their browsers, and their webhook."""

from __future__ import annotations

import hashlib

from allauth.usersessions.models import UserSession
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.signed_posts import check_receiver, new_secret
from sessions.actions.deliveries import note_arrival
from sessions.models import OwnWebhook, PushSubscription
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


@transaction.atomic
def save_own_webhook(user: User, *, url: str) -> str:
    """Have a person's notifications sent to an address, also where another one was switched off.

    Returns: the secret that signs them, which cannot be shown again; empty where there is one
    already. Raises: Invalid for an unusable address.
    """
    checked, secret = check_receiver(url), new_secret()
    row, is_new = OwnWebhook.objects.select_for_update(no_key=True).get_or_create(
        user=user, defaults={"url": checked, "secret": encrypt(secret)}
    )
    if is_new:
        return secret
    row.url, row.failing_since, row.disabled_at = checked, None, None
    row.save(update_fields=["url", "failing_since", "disabled_at"])
    return ""


def rotate_own_secret(user: User) -> str:
    """Returns: a new secret; what is sent from now on is signed with it. Raises: NotFound."""
    secret = new_secret()
    if not OwnWebhook.objects.filter(user=user).update(secret=encrypt(secret)):
        raise NotFound("Webhook")
    return secret


def remove_own_webhook(user: User) -> None:
    """Send nothing more there, nor what waits."""
    OwnWebhook.objects.filter(user=user).delete()


@transaction.atomic
def note_own_delivery(tried: OwnWebhook, *, failed: bool) -> None:
    """Keep since when nothing arrives, switch the address off in the end, and on when it answers.

    Nothing is kept of an address that was changed meanwhile.
    """
    rows = OwnWebhook.objects.select_for_update(no_key=True).filter(pk=tried.pk, url=tried.url)
    row = rows.first()
    if row is None:
        return
    now = timezone.now()
    if note_arrival(row, now, failed=failed):
        row.disabled_at = now
    elif not failed:
        row.disabled_at = None
    row.save(update_fields=["disabled_at"])
