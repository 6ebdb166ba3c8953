from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Schedule(models.Model):
    """A prompt that starts a session of a project at times, with the rights of its author."""

    id = models.CharField(primary_key=True, max_length=40)
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="schedules")
    # Whoever wrote what it does now; without one it cannot run.
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    name = models.CharField(max_length=120)
    prompt = models.TextField()
    # Empty for the project's defaults; a model is `provider/model`.
    agent = models.CharField(max_length=60, blank=True)
    model = models.CharField(max_length=200, blank=True)
    # Five fields, read in the time zone.
    cron = models.CharField(max_length=120)
    timezone = models.CharField(max_length=64, default="UTC")
    # None while it is paused, or will never be due.
    next_at = models.DateTimeField(null=True)
    # Failures in a row.
    failures = models.PositiveSmallIntegerField(default=0)
    paused_at = models.DateTimeField(null=True)
    # One sentence for people, and its cause (`events.reasons`), which older rows lack.
    paused_reason = models.CharField(max_length=400, blank=True)
    paused_cause = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"], condition=models.Q(next_at__isnull=False), name="schedule_due"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ScheduleRun(models.Model):
    """One time that a schedule was due, or that somebody ran it."""

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        STOPPED = "stopped", _("Stopped")
        SKIPPED = "skipped", _("Skipped")

    id = models.CharField(primary_key=True, max_length=40)
    schedule = models.ForeignKey(Schedule, models.CASCADE, related_name="runs")
    due_at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    session = models.ForeignKey(
        "agent_sessions.Session", models.SET_NULL, null=True, related_name="+"
    )
    # Why it failed or was skipped, and how many times before it were missed; and the cause of that,
    # where a provider has not said it.
    detail = models.CharField(max_length=400, blank=True)
    cause = models.JSONField(default=dict)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Whatever number of beats and workers look at the clock.
            models.UniqueConstraint(fields=["schedule", "due_at"], name="one_run_per_tick"),
        ]
        indexes = [
            models.Index(
                fields=["state"], condition=models.Q(state="running"), name="schedule_run_open"
            ),
        ]

    def __str__(self) -> str:
        return self.id
