from __future__ import annotations

from django.db import models

from opencode_web.lib.fields import EncryptedTextField
from sessions.models.integration import Integration


class SlackWorkspace(models.Model):
    """The Slack workspace of a team, where people talk to agents through an app of their own.

    Its integration has the app's signing secret, empty where everything comes by Socket Mode.
    """

    integration = models.OneToOneField(
        Integration, models.CASCADE, primary_key=True, related_name="slack"
    )
    # Encrypted. Without the second one, Slack sends to our address.
    bot_token = EncryptedTextField()
    app_token = EncryptedTextField(blank=True)
    # Slack's ids of the workspace and of the app's user there.
    workspace = models.CharField(max_length=40)
    bot_user = models.CharField(max_length=40)
    name = models.CharField(max_length=100)
    # Which process speaks with Slack, and until when nobody else does.
    served_by = models.CharField(max_length=200, blank=True)
    served_until = models.DateTimeField(null=True)
    # Why it could not be reached the last time: a sentence for people.
    problem = models.CharField(max_length=400, blank=True)

    def __str__(self) -> str:
        return self.name


class SlackChannel(models.Model):
    """A channel in which agents may be talked to, and the project that this is about."""

    workspace = models.ForeignKey(SlackWorkspace, models.CASCADE, related_name="channels")
    # Slack's id; empty for direct messages.
    channel = models.CharField(max_length=40, blank=True)
    name = models.CharField(max_length=100, blank=True)
    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="slack_channels"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "channel"], name="one_project_per_slack_channel"
            ),
        ]

    def __str__(self) -> str:
        return self.name
