from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class ViewedFile(models.Model):
    """That somebody has looked at a change. It is forgotten when something else is there: then it
    has another digest."""

    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="viewed_files"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    path = models.TextField()
    # SHA-256 of the path and of what was compared.
    digest = models.CharField(max_length=64)
    # Sequence number of the session's newest event at that time.
    seq = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "user", "digest"], name="one_mark_of_a_viewed_file"
            )
        ]


class ReviewComment(models.Model):
    """What somebody wants to say about lines of a diff, until it is sent to the agent."""

    class Side(models.TextChoices):
        OLD = "old"
        NEW = "new"

    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="review_comments"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # Where the diff was: a source, or the prompt of a turn.
    source = models.CharField(max_length=60)
    path = models.TextField()
    side = models.CharField(max_length=3, choices=Side)
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    # The lines as they were shown then, each with a line end.
    code = models.TextField()
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["session", "author"], name="review_comments_of_a_person")]
