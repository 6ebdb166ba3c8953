from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.fields import EncryptedTextField


class McpSignIn(models.Model):
    """What a team was granted by an MCP server at an address, for all who work in the team."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="mcp_sign_ins")
    name = models.CharField(max_length=64)
    # It counts for this address only.
    url = models.CharField(max_length=2000)
    url_digest = models.CharField(max_length=64)
    # Encrypted, a `tools.mcp.sign_in.Grant`. It goes to the server and where it is signed in to.
    sealed = EncryptedTextField()
    signed_in_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    signed_in_at = models.DateTimeField(default=timezone.now)
    # Until when somebody is renewing it; none when nobody is.
    renewing_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name", "url_digest"], name="one_mcp_sign_in_per_address"
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
