from __future__ import annotations

from django.conf import settings
from django.db import models

from opencode_web.lib.fields import EncryptedTextField


class TeamSearch(models.Model):
    """The search engine of a team; without one its agents do not search the web."""

    team = models.OneToOneField(
        "teams.Team", models.CASCADE, primary_key=True, related_name="search"
    )
    # A `tools.search.engine.EngineKind`.
    kind = models.CharField(max_length=20)
    # Empty for the engine's own.
    address = models.CharField(max_length=500, blank=True)
    # Encrypted; empty without a key. It goes to the engine and nowhere else.
    secret = EncryptedTextField(blank=True)
    last4 = models.CharField(max_length=4, blank=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.kind
