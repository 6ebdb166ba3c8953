from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject


def new_erasure_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("era")


class Erasure(models.Model):
    """That a person, a project or a team is removed for good: a job, then its report.

    It has IDs and numbers only: what was erased must not stand here.
    """

    class Kind(models.TextChoices):
        PERSON = "person", _("Person")
        PROJECT = "project", _("Project")
        TEAM = "team", _("Team")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    id = models.CharField(primary_key=True, max_length=40, default=new_erasure_id, editable=False)
    kind = models.CharField(max_length=7, choices=Kind)
    # The ID of the account, the project or the team.
    subject = models.CharField(max_length=40)
    # What stands for the person from now on.
    pseudonym = models.CharField(max_length=40, blank=True, default="")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    # While it runs, its worker says so again before this.
    lease_until = models.DateTimeField(null=True)
    # Of sessions, or of tables that are looked through.
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    # How much of what was removed, by `sessions.present.pages.erasures`.
    report: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    # Why it failed: one sentence for people. While it runs, what has stopped it so far.
    problem = models.CharField(max_length=500, blank=True, default="")
    # Since then no try has come to the end.
    failing_since = models.DateTimeField(null=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=models.Q(state__in=("waiting", "running")),
                name="teams_erasure_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.id}: {self.kind} {self.state}"

    @property
    def is_failing(self) -> bool:
        return self.failing_since is not None

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)
