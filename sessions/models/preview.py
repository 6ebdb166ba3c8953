from __future__ import annotations

from django.db import models
from django.utils import timezone


class Preview(models.Model):
    """An app of a terminal, at an origin of its own, for the terminal's person in one browser.

    The origin opens nothing by itself: see `sessions.actions.previews`.
    """

    # The first part of the host's name.
    label = models.CharField(primary_key=True, max_length=40)
    terminal = models.ForeignKey("agent_sessions.Terminal", models.CASCADE, related_name="previews")
    port = models.PositiveIntegerField()
    # What the person was signed in with: the preview ends with that.
    browser_key = models.CharField(max_length=60)
    # Where the person visits this server: the one origin that may show the app in a frame.
    app_origin = models.CharField(max_length=300)
    created_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now)
    # When the newest ticket that was taken had been issued: no older one is good any more.
    ticket_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["terminal", "port", "browser_key"], name="one_preview_of_an_app"
            )
        ]
        indexes = [models.Index(fields=["used_at"], name="preview_used")]
