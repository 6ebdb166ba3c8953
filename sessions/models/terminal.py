from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Terminal(models.Model):
    """A person's own shell in the sandbox of a project. Operational, not folded.

    The program lives in one worker of the project's host and is never started a second time. The
    row says how it ended, until somebody removes it or it is old.
    """

    class Status(models.TextChoices):
        STARTING = "starting"
        RUNNING = "running"
        EXITED = "exited"

    id = models.CharField(primary_key=True, max_length=40)
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="terminals")
    creator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="terminals")
    # The API token that it was opened with: it ends with that. Empty for a browser.
    token_id = models.CharField(max_length=40, blank=True)
    # The worktree of a session that it is in; empty for the project's folder.
    folder = models.CharField(max_length=1000, blank=True)
    title = models.CharField(max_length=200)
    command = models.CharField(max_length=1000)
    args: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    cwd = models.CharField(max_length=1000)
    rows = models.PositiveSmallIntegerField(default=24)
    columns = models.PositiveSmallIntegerField(default=80)
    status = models.CharField(max_length=10, choices=Status, default=Status.STARTING)
    # Of the sandbox, on the project's host; 0 until it runs.
    pid = models.IntegerField(default=0)
    # None while it runs, and when nobody saw it end.
    exit_code = models.IntegerField(null=True)
    # Its person lets the members of the team look on, without typing.
    watchable = models.BooleanField(default=False)
    # Why it ended, when it did not end by itself: one sentence for people.
    detail = models.TextField(blank=True)
    # The same as a reason with its values; empty for the words of others.
    cause = models.JSONField(default=dict)
    # Whoever starts or runs it has to say so again before this.
    lease_until = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "creator"],
                condition=~models.Q(status="exited"),
                name="terminal_open_of_person",
            ),
            models.Index(
                fields=["lease_until"],
                condition=~models.Q(status="exited"),
                name="terminal_lease",
            ),
        ]

    @property
    def directory(self) -> str:
        """The folder that its sandbox shows, on the project's host."""
        return self.folder or self.project.directory


class TerminalTicket(models.Model):
    """Lets its holder attach to one terminal, once and soon, as the person who asked for it.

    For websockets of browsers, which send no header. Only the digest of the secret is kept.
    """

    digest = models.CharField(primary_key=True, max_length=64)
    terminal = models.ForeignKey(Terminal, models.CASCADE, related_name="tickets")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # What the person was signed in with: the socket ends with that. One of the two.
    token_id = models.CharField(max_length=40, blank=True)
    browser_key = models.CharField(max_length=60, blank=True)
    expires_at = models.DateTimeField()
