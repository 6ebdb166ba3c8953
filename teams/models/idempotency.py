from __future__ import annotations

from django.db import models
from django.utils import timezone

from opencode_web.lib.fields import EncryptedTextField
from opencode_web.lib.ids import new_id


def new_message_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("msg")


class IdempotencyKey(models.Model):
    """A write of the API that its caller may send again, and the answer it had."""

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        DONE = "done", "Done"

    # A token's id, or `user:<id>` of a browser.
    caller = models.CharField(max_length=60)
    key = models.CharField(max_length=255)
    # Of method, address, named directory and body: the same key means the same request.
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=7, choices=State.choices, default=State.RUNNING)
    # Until then the process that runs it is taken to be alive.
    held_until = models.DateTimeField()
    # What a prompt gets that names no id itself, so that even after a crash it is admitted once.
    message_id = models.CharField(max_length=40, default=new_message_id)
    status = models.PositiveSmallIntegerField(default=0)
    content_type = models.CharField(max_length=100, blank=True)
    # Encrypted.
    answer = EncryptedTextField(blank=True)
    # Why there is none, in words for the caller.
    withheld = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["caller", "key"], name="teams_idempotency_once"),
        )

    def __str__(self) -> str:
        return f"{self.caller} {self.key}"
