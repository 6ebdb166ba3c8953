from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Checkout(models.Model):
    """A session's own git worktree and branch. Operational, not folded.

    Its id is that of the session at the top; the row outlives it while work is rescued.
    What is asked for in a project's own folder has a row too: its id is the project's.
    """

    class State(models.TextChoices):
        # It is made when a turn begins.
        NEW = "new"
        PREPARING = "preparing"
        READY = "ready"
        # It could not be made; the next prompt tries again.
        FAILED = "failed"
        # The project cannot have any: the session works in the project's folder.
        SHARED = "shared"
        # Its folder is gone. What was not merged is under the rescue ref.
        RESCUED = "parked", "Parked"
        DROPPED = "dropped"
        # The project's own folder, for every session that works in it: no session, no branch and
        # no folder of its own.
        PROJECT = "project"

    class Job(models.TextChoices):
        NOTHING = ""
        LOOK = "look"
        COMMIT = "commit"
        MERGE = "merge"
        PUSH = "push"
        # A new branch where the work is, or another name for the one it is on.
        SWITCH = "switch"
        RENAME = "rename"
        # Open a pull request; what is not pushed is pushed first.
        REQUEST = "request"
        DROP = "drop"
        RESTORE = "restore"
        # With rescued work: put it on a branch of the project, or delete it permanently.
        BRANCH = "branch"
        DISCARD = "discard"

    id = models.CharField(primary_key=True, max_length=40)
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="checkouts")
    session = models.OneToOneField(
        "agent_sessions.Session", models.SET_NULL, null=True, related_name="checkout"
    )
    # Of the session, for when that is gone.
    title = models.CharField(max_length=300)
    folder = models.CharField(max_length=1000)
    branch = models.CharField(max_length=200)
    # A person asked for it. Else the session works in the project's folder where it cannot be.
    asked = models.BooleanField(default=False)
    # The project's branch that it starts from and is merged into; "" for the one that is shown.
    base_branch = models.CharField(max_length=250, blank=True)
    base = models.CharField(max_length=64, blank=True)
    # A ref of the remote repository that has `base`, where the project may not have it.
    fetch = models.CharField(max_length=250, blank=True, db_default="")
    # A newer commit of that ref, which it is brought to before the next turn.
    follows = models.CharField(max_length=64, blank=True, db_default="")
    # Files to begin with: a tree in the shadow repository of that name, {"files", "tree"}.
    seed = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.NEW)
    # How far it is, or why it failed: for people.
    detail = models.TextField(blank=True)
    # {"reason", "values"} of that where this server says it, or empty.
    cause = models.JSONField(default=dict)
    # The prompt whose turn it could not be made for.
    failed_for = models.CharField(max_length=60, blank=True)
    job = models.CharField(max_length=10, choices=Job, default=Job.NOTHING, blank=True)
    # What the job needs, never a credential.
    job_data = models.JSONField(default=dict)
    job_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    job_at = models.DateTimeField(null=True)
    # Of the form that asked for it: one that is sent twice asks once.
    job_key = models.CharField(max_length=40, blank=True)
    # A worker has begun: another one goes on where that one ended.
    job_begun = models.BooleanField(default=False)
    # How far the job is, and then what it came to: one sentence for people.
    job_failed = models.BooleanField(default=False)
    job_detail = models.TextField(blank=True)
    job_cause = models.JSONField(default=dict)
    # As it was looked at last: commits apart from the base branch, and files not committed.
    head = models.CharField(max_length=64, blank=True)
    ahead = models.PositiveIntegerField(default=0)
    behind = models.PositiveIntegerField(default=0)
    dirty = models.PositiveIntegerField(default=0)
    looked_at = models.DateTimeField(null=True)
    # What else was seen then, a `sessions.checkouts.survey.Survey`.
    survey = models.JSONField(default=dict)
    # What was pushed last, and as which branch.
    pushed_head = models.CharField(max_length=64, blank=True)
    pushed_branch = models.CharField(max_length=250, blank=True)
    # The rescued commit, and the commit that it was based on.
    rescued = models.CharField(max_length=64, blank=True)
    rescued_head = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "branch"], name="one_checkout_per_branch"),
        ]
        indexes = [
            models.Index(fields=["folder"], name="checkout_of_folder"),
            models.Index(
                fields=["job_at"], condition=~models.Q(job=""), name="checkout_with_a_job"
            ),
        ]

    def __str__(self) -> str:
        return self.branch
