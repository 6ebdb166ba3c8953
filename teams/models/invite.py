from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.ids import new_id
from teams.models.membership import Role
from teams.models.team import Team


def new_invite_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("inv")


class InviteQuerySet(models.QuerySet["Invite"]):
    """Invitations by state."""

    def open(self, *, now: datetime | None = None) -> InviteQuerySet:
        """Neither used nor revoked nor expired."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=now or timezone.now())


class Invite(models.Model):
    """A link that lets one person join. Only the digest of its secret is kept."""

    id = models.CharField(primary_key=True, max_length=40, default=new_invite_id, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="invites")
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    # When set, only the person with this address may use the link.
    email = models.EmailField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InviteQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.id} ({self.team_id})"

    @property
    def role_noun(self) -> str:
        """The role that it gives, within a sentence."""
        return Role(self.role).noun
