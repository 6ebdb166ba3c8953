from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Announcement(models.Model):
    """What operators tell everybody on every page, for a time.

    With `stops_prompts` it is maintenance: no new messages are accepted while it is shown.
    """

    class Level(models.TextChoices):
        INFO = "info", _("Information")
        WARN = "warn", _("Warning")
        BAD = "bad", _("Outage")

    text = models.CharField(max_length=500)
    level = models.CharField(max_length=4, choices=Level, default=Level.INFO)
    stops_prompts = models.BooleanField(default=False)
    starts_at = models.DateTimeField(default=timezone.now)
    # None until somebody ends it.
    ends_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        indexes = [models.Index(fields=["ends_at"], name="announcement_end")]
        constraints = (
            models.CheckConstraint(
                condition=models.Q(ends_at=None) | models.Q(ends_at__gt=models.F("starts_at")),
                name="announcement_span",
            ),
        )

    def __str__(self) -> str:
        return self.text

    def is_shown(self, now: datetime) -> bool:
        """Whether its time has come and is not over."""
        return self.starts_at <= now and (self.ends_at is None or self.ends_at > now)
