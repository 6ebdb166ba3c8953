from __future__ import annotations

from django.db import models

from opencode_web.lib.fields import EncryptedTextField


class GitHubApp(models.Model):
    """A team's own GitHub App on one GitHub, made from a manifest of ours."""

    # Part of the address that GitHub sends the deliveries of all installations to.
    id = models.CharField(primary_key=True, max_length=40)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="github_apps")
    # Of its API, and scheme and host of its pages and repositories: tokens go nowhere else.
    api_url = models.CharField(max_length=500)
    origin = models.CharField(max_length=300)
    # GitHub's id of it, its name there and its page.
    number = models.BigIntegerField()
    name = models.CharField(max_length=100)
    page = models.CharField(max_length=500)
    client_id = models.CharField(max_length=100)
    # Encrypted: in PEM, what deliveries are signed with, and what only signing in would need.
    private_key = EncryptedTextField()
    webhook_secret = EncryptedTextField()
    client_secret = EncryptedTextField(blank=True)
    # Deliveries whose signature was wrong, since the last that was right.
    refused = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "api_url"], name="one_github_app_per_github"),
        ]

    def __str__(self) -> str:
        return self.name


class GitHubInstallation(models.Model):
    """That a project's repository is in an installation of its team's GitHub App."""

    project = models.OneToOneField(
        "agent_sessions.Project",
        models.CASCADE,
        primary_key=True,
        related_name="github_installation",
    )
    app = models.ForeignKey(GitHubApp, models.CASCADE, related_name="installations")
    # GitHub's id of it.
    number = models.BigIntegerField()
    # owner/name in lower case: of another repository nothing was verified.
    repository = models.CharField(max_length=300)
    # A `ForgeReason` why it gave no token the last time; empty while it works.
    problem = models.CharField(max_length=40, blank=True)
    # Encrypted, for the API alone, and until when it is used.
    token = EncryptedTextField(blank=True)
    token_until = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["app", "number", "repository"], name="github_installations"),
        ]

    def __str__(self) -> str:
        return self.repository
