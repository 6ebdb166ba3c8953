from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from teams.models.team import Team


class AppendOnly(Exception):
    """Something tried to change or remove an entry: a fault of ours, never the caller's."""


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    """Refuses what would change many entries at once."""

    def update(self, **kwargs: Any) -> NoReturn:  # Django's own signature
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit entries are never removed")


class AuditEntry(models.Model):
    """Who did what to what, and when. Outlives the person and the team it names."""

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
    )
    # The address at that time: it still tells who it was when the account is gone.
    actor_email = models.EmailField(blank=True)
    team = models.ForeignKey(
        Team, models.DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=80, blank=True)
    data: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    ip = models.GenericIPAddressField(null=True)
    time = models.DateTimeField(default=timezone.now)

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        # The settings page of a team lists its newest entries.
        indexes = (models.Index(fields=["team", "-id"], name="teams_audit_team_newest"),)

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.actor_email} {self.action}"

    def save(self, *args: Any, **kwargs: Any) -> None:  # Django's own signature
        if not self._state.adding:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:  # Django's own signature
        raise AppendOnly("audit entries are never removed")
