from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.ids import new_id
from teams.models.team import Team


def new_hold_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("hld")


class LegalHoldQuerySet(models.QuerySet["LegalHold"]):
    """Holds by state."""

    def live(self) -> LegalHoldQuerySet:
        """Those that nobody has released."""
        return self.filter(released_at=None)


class LegalHold(models.Model):
    """Something that must not be deleted, whatever else says so, until the hold is released."""

    class Scope(models.TextChoices):
        TEAM = "team", _("Team")
        SESSION = "session", _("Session")
        PERSON = "person", _("Person")

    id = models.CharField(primary_key=True, max_length=40, default=new_hold_id, editable=False)
    scope = models.CharField(max_length=7, choices=Scope)
    # None only for a person in all teams, which operators set.
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="holds")
    # The ID of the session at the top: sessions belong to an app above this one.
    session = models.CharField(max_length=40, blank=True, default="")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="holds"
    )
    reason = models.CharField(max_length=500)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    set_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    released_at = models.DateTimeField(null=True)

    objects = LegalHoldQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(scope="team", team__isnull=False, user=None, session="")
                | models.Q(scope="session", team__isnull=False, user=None) & ~models.Q(session="")
                | models.Q(scope="person", user__isnull=False, session=""),
                name="teams_hold_scope",
            ),
        )
        indexes = (
            models.Index(
                fields=["team"], condition=models.Q(released_at=None), name="teams_hold_live"
            ),
        )

    def __str__(self) -> str:
        return f"{self.id}: {self.scope}"
