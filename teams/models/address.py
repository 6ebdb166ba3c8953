from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class AllowedAddress(models.Model):
    """A private place that outgoing connections may reach, as `lib/outbound_policy.py` reads it."""

    place = models.CharField(primary_key=True, max_length=300)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.place
