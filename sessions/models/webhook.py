from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import EncryptedTextField


class Receiver(models.Model):
    """Where signed messages are sent to, and how that goes."""

    url = models.CharField(max_length=2000)
    # Encrypted; deliveries are signed with it.
    secret = EncryptedTextField()
    created_at = models.DateTimeField(default=timezone.now)
    # Since when nothing has arrived; none while it works.
    failing_since = models.DateTimeField(null=True)
    disabled_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def host(self) -> str:
        """Where it goes. The rest of an address is often as good as a password."""
        return urlsplit(self.url).hostname or ""


class OwnWebhook(Receiver):
    """An address that a person's notifications are sent to."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="own_webhook"
    )


class Webhook(Receiver):
    """An address of a team that hears of what happens in its sessions."""

    id = models.CharField(primary_key=True, max_length=40)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="webhooks")
    # None: every project of the team.
    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, null=True, related_name="webhooks"
    )
    # Names of `sessions.events.outbox`.
    events = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    # One sentence for people.
    disabled_reason = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return self.id


class WebhookDelivery(models.Model):
    """One event for one webhook, written in the transaction of the event: it cannot be lost."""

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Given up")

    # The receiver tells by it what it has had already.
    id = models.CharField(primary_key=True, max_length=40)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    payload = models.JSONField()
    state = models.CharField(max_length=9, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # While an attempt is under way: when it is taken to be lost with its worker.
    next_at = models.DateTimeField()
    # Of the latest attempt: the HTTP status, 0 without an answer; and what went wrong.
    status = models.PositiveSmallIntegerField(default=0)
    problem = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    attempted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["webhook", "-created_at"], name="webhook_delivery_log"),
            models.Index(
                fields=["next_at"],
                condition=models.Q(state="pending"),
                name="webhook_delivery_due",
            ),
            models.Index(fields=["created_at"], name="webhook_delivery_age"),
        ]

    def __str__(self) -> str:
        return self.id
