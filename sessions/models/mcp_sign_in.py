from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.fields import EncryptedTextField
from teams.models import Membership


class McpSignInQuerySet(models.QuerySet["McpSignIn"]):
    def live(self) -> McpSignInQuerySet:
        """Those that are used."""
        rows = self.filter(state=McpSignIn.State.LIVE)
        return rows.filter(models.Q(user=None) | models.Q(_stayed(), user__is_active=True))

    def lost(self) -> McpSignInQuerySet:
        """Those of people who are locked out, or have left the team since."""
        return self.exclude(user=None).filter(~_stayed() | models.Q(user__is_active=False))


def _stayed() -> models.Exists:
    """Whether the person has been in the team all the time, not only again."""
    own = {"user": models.OuterRef("user"), "team": models.OuterRef("team")}
    since = models.OuterRef("signed_in_at")
    return models.Exists(Membership.objects.current().filter(**own, created_at__lte=since))


class McpSignIn(models.Model):
    """What was granted by an MCP server at an address: to a team, or to one person in it."""

    class State(models.TextChoices):
        LIVE = ""
        # The server renews it no more, and somebody has to be told. Nothing of it is kept.
        REFUSED = "refused"
        # It is used no more, and goes when the server has been told.
        ENDED = "ended"

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="mcp_sign_ins")
    # Whose it is; none for the team's, for all who work in it.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="mcp_sign_ins"
    )
    name = models.CharField(max_length=64)
    # It counts for this address only.
    url = models.CharField(max_length=2000)
    url_digest = models.CharField(max_length=64)
    # Encrypted, a `tools.mcp.sign_in.Grant`. It goes to the server and where it is signed in to.
    sealed = EncryptedTextField()
    signed_in_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    signed_in_at = models.DateTimeField(default=timezone.now)
    # When it cannot be renewed any more, where its server says that.
    ends_at = models.DateTimeField(null=True)
    # Until when somebody is renewing it or, after its end, gives it back; none when nobody is.
    renewing_until = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.LIVE, blank=True)
    state_at = models.DateTimeField(default=timezone.now)

    objects = McpSignInQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name", "url_digest"],
                condition=models.Q(user=None, state=""),
                name="one_mcp_sign_in_per_address",
            ),
            models.UniqueConstraint(
                fields=["user", "team", "name", "url_digest"],
                condition=models.Q(state=""),
                name="one_mcp_sign_in_per_person",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class McpSignInAttempt(models.Model):
    """A sign-in that a person has begun: one at a time for each server, used once."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="mcp_sign_in_attempts")
    # Whose settings name the server, and where the person comes back to.
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=64)
    # Whether it is for themselves alone.
    is_own = models.BooleanField(default=False)
    url = models.CharField(max_length=2000)
    # Keyed hash of what the browser comes back with.
    state_digest = models.CharField(max_length=64, unique=True)
    # Encrypted, a `tools.mcp.sign_in.Attempt`.
    sealed = EncryptedTextField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user", "name"], name="one_mcp_sign_in_attempt_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return self.name
