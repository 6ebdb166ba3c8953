from __future__ import annotations

from django.conf import settings
from django.db import models

from sessions.models.request import RequestQuerySet


class QuestionRequest(models.Model):
    """What an agent asks a person in one tool call. The first answer wins."""

    class Status(models.TextChoices):
        PENDING = "pending"
        ANSWERED = "answered"
        REJECT = "reject"
        # The turn was ended before anybody answered.
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    id = models.CharField(primary_key=True, max_length=40)
    session = models.ForeignKey("agent_sessions.Session", models.CASCADE, related_name="questions")
    message_id = models.CharField(max_length=60)
    call_id = models.CharField(max_length=200)
    agent = models.CharField(max_length=60)
    # [{"question", "header", "options": [{"label", "description"}], "multiple"?}], the wire's.
    questions = models.JSONField(default=list)
    # For each question the chosen labels and what somebody wrote; empty where it was left out.
    answers = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    replied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    replied_at = models.DateTimeField(null=True)

    objects = RequestQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["session"],
                condition=models.Q(status="pending"),
                name="pending_question",
            ),
            models.Index(fields=["message_id", "call_id"], name="question_of_call"),
        ]
