from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import EncryptedTextField


class NotificationKind(models.TextChoices):
    """What people can be told of, in the order of the page."""

    ASKS = "asks", _("An agent or a teammate needs a response")
    MENTIONED = "mentioned", _("A teammate has mentioned you")
    ENDS = "ends", _("A turn has ended")
    FAILS = "fails", _("A turn has failed")
    BUDGET = "budget", _("A budget is nearly or fully spent")


class PushKey(models.Model):
    """The key that this server signs with towards push services (VAPID). There is one row."""

    # Base64url of the 32 bytes, encrypted.
    private = EncryptedTextField()


class PushSubscription(models.Model):
    """Where a signed-in browser takes messages while no page is open. Ends with its sign-in."""

    browser = models.OneToOneField(UserSession, models.CASCADE, related_name="push")
    # SHA-256 of the endpoint: a browser that somebody else has signed in to is theirs.
    digest = models.CharField(max_length=64, unique=True)
    # Encrypted: whoever knows these can send to the browser.
    endpoint = EncryptedTextField()
    auth = EncryptedTextField()
    # Its public key, base64url.
    p256dh = models.CharField(max_length=100)
    created_at = models.DateTimeField()


class Notification(models.Model):
    """A message that waits to be sent by one channel to one person, or one that no one is chosen
    for yet (`user` is None). Written in the transaction of the event, gone when it was sent. A
    mention is also kept in the person's inbox until they open its session.

    It has no text: what it says, and whether the person may still know it, is read when it is sent.
    """

    class State(models.TextChoices):
        PENDING = "pending"
        FAILED = "failed"
        KEPT = "kept"

    kind = models.CharField(max_length=9, choices=NotificationKind)
    # The one at the top of its tree; of a mention, the one where it is.
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, null=True, related_name="+"
    )
    # The id of the permission or question that waits, or of the message with the mention.
    request = models.CharField(max_length=40, blank=True)
    # Whether it is for the admins because somebody has asked them.
    for_admins = models.BooleanField(default=False)
    budget = models.ForeignKey("teams.BudgetNotice", models.CASCADE, null=True, related_name="+")
    # That waits for a second person.
    change = models.ForeignKey(
        "agent_sessions.ChangeRequest", models.CASCADE, null=True, related_name="+"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="notifications"
    )
    # The name of one of `sessions.notifications.channels`.
    channel = models.CharField(max_length=20, blank=True)
    device = models.ForeignKey(PushSubscription, models.CASCADE, null=True, related_name="+")
    # Sent together with all others that are due then.
    is_held = models.BooleanField(default=False)
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # While an attempt is under way: when it is taken to be lost with its worker.
    next_at = models.DateTimeField()
    problem = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"],
                condition=models.Q(state="pending"),
                name="notification_due",
            ),
        ]
