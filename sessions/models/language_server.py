from __future__ import annotations

from django.db import models


class LanguageServer(models.Model):
    """A language server that a worker runs for a session, or could not run.

    A fact of a process, so it is no event. The worker says now and then that it is still there:
    one that was killed says nothing, and what it ran is over.
    """

    class Status(models.TextChoices):
        CONNECTED = "connected"
        ERROR = "error"

    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="language_servers"
    )
    name = models.CharField(max_length=80)
    # From the session's folder, empty for that; long ones are cut, as an index takes only so much.
    root = models.CharField(max_length=400, blank=True)
    status = models.CharField(max_length=10, choices=Status)
    # Why it does not run: one sentence for people.
    reason = models.CharField(max_length=400, blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "name", "root"], name="one_language_server_of_a_root"
            )
        ]
