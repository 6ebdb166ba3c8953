from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class IntegrationRule(models.Model):
    """What happens on a forge and starts sessions of a project, and what they are asked."""

    class Audience(models.TextChoices):
        """Whose doing it may be. Each includes the ones before it."""

        LINKED = "linked", _("People with a linked account")
        COLLABORATORS = "collaborators", _("Everyone who can push to the repository")
        ANYBODY = "anybody", _("Anyone, read-only")

    id = models.CharField(primary_key=True, max_length=40)
    integration = models.ForeignKey(
        "agent_sessions.Integration", models.CASCADE, related_name="rules"
    )
    # Of two that are about the same, the first counts.
    position = models.PositiveSmallIntegerField()
    # A `sessions.forges.triggers.Trigger`.
    trigger = models.CharField(max_length=20)
    # For `issue_labeled`, as people write it on the forge.
    label = models.CharField(max_length=100, blank=True)
    # A template: see `sessions.integrations.templates`.
    prompt = models.TextField()
    # Empty ones are the project's.
    agent = models.CharField(max_length=60, blank=True)
    model = models.CharField(max_length=200, blank=True)
    # A service account, for whom has no linked account.
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    audience = models.CharField(max_length=13, choices=Audience, default=Audience.LINKED)
    # Pull requests from other repositories: read-only, whoever opens them.
    takes_forks = models.BooleanField(default=False)
    takes_bots = models.BooleanField(default=False)
    # USD of each session that it starts; None for the project's limit alone.
    cost_limit = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    per_hour = models.PositiveSmallIntegerField(default=20)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("position", "pk")

    def __str__(self) -> str:
        return self.id
