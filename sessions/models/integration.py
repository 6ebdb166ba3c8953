from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import EncryptedTextField
from sessions.models.project import Project

# The kind of an integration that is no forge.
SLACK = "slack"


class Integration(models.Model):
    """Where messages start and continue sessions: the forge and the issue trackers of a project, or
    a team's Slack."""

    # Part of the address that the other side sends to.
    id = models.CharField(primary_key=True, max_length=40)
    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="integrations")
    # Null for Slack alone, which code of projects never meets: it need not ask each time.
    project: models.ForeignKey[Project, Project] = models.ForeignKey(  # type: ignore[misc]
        Project, models.CASCADE, related_name="integrations", null=True
    )
    # A `sessions.forges.adapter.ForgeKind`, the name of an issue tracker in
    # `sessions.integrations.systems`, or SLACK: the form in which deliveries come.
    kind = models.CharField(max_length=10)
    is_tracker = models.BooleanField(default=False, db_default=False)
    # Encrypted; deliveries are signed with it. Empty until an admin has pasted a tracker's.
    secret = EncryptedTextField()
    # Encrypted: the API key of a tracker. A forge's token is the project's.
    token = EncryptedTextField(blank=True, db_default="")
    # What a tracker has said of itself: a `sessions.integrations.system.Found`.
    outside = models.JSONField(default=dict, db_default={})
    # The word that a comment for the agent begins with.
    command = models.CharField(max_length=20)
    # For whom the forge counts among those who work in the repository, and who has not linked an
    # account; without it they are told how to link one.
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    # What answers beside the comments: how the newest commit of a pull request is, branches and
    # pull requests of what was changed, and approvals where an agent's review comes to one.
    checks = models.BooleanField(default=False, db_default=False)
    pulls = models.BooleanField(default=False, db_default=False)
    approves = models.BooleanField(default=False, db_default=False)
    # Deliveries whose signature was wrong, since the last that was right.
    refused = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team"],
                condition=models.Q(kind=SLACK),
                name="one_slack_per_team",
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(is_tracker=False),
                name="one_forge_per_project",
            ),
            models.UniqueConstraint(fields=["project", "kind"], name="one_of_each_kind"),
            models.CheckConstraint(
                condition=models.Q(kind=SLACK, project=None)
                | (~models.Q(kind=SLACK) & models.Q(project__isnull=False)),
                name="forges_have_projects",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class InboundDelivery(models.Model):
    """What a forge, a tracker or Slack has sent, kept before it is answered.

    Its text goes once it is handled.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        HANDLED = "handled", _("Handled")
        IGNORED = "ignored", _("Ignored")
        FAILED = "failed", _("Failed")

    id = models.CharField(primary_key=True, max_length=40)
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="deliveries")
    # Of the body: a delivery that comes again, whatever its headers say, is the same one.
    digest = models.CharField(max_length=64)
    # The forge's id of the comment, or what else happens once: what is sent in another form, for it
    # was edited, is the same one.
    comment = models.CharField(max_length=40, blank=True)
    # The forge's name of what happened.
    event = models.CharField(max_length=100)
    # A `sessions.forges.adapter.Thread` as text; what belongs to one is handled in order.
    thread = models.CharField(max_length=40, blank=True)
    # A `sessions.forges.inbound.Heard`, while it waits or has failed; after that its labels stay.
    heard = models.JSONField(default=dict)
    author = models.CharField(max_length=100, blank=True)
    # The rule that it was handled by, and the prompt that came of it.
    rule = models.ForeignKey(
        "agent_sessions.IntegrationRule", models.SET_NULL, null=True, related_name="deliveries"
    )
    prompt_id = models.CharField(max_length=60, blank=True, db_default="")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # While it is being handled: when it is taken to be lost with its worker.
    next_at = models.DateTimeField()
    # Why it was refused, was ignored or has failed: a sentence for people, and its cause.
    problem = models.CharField(max_length=400, blank=True)
    cause = models.JSONField(default=dict)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["integration", "digest"], name="one_row_per_delivery"),
        ]
        indexes = [
            models.Index(
                fields=["next_at"], condition=models.Q(state="waiting"), name="inbound_delivery_due"
            ),
            models.Index(fields=["received_at"], name="inbound_delivery_age"),
        ]

    def __str__(self) -> str:
        return self.id


class LinkedAccount(models.Model):
    """An account on a forge whose comments count as a person's own in a team."""

    team = models.ForeignKey("teams.Team", models.CASCADE, related_name="linked_accounts")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="linked_accounts"
    )
    # Of the forge's API; and the number there, which stays when somebody takes another name. Both
    # are empty until the code has come in a comment. It counts once its person has confirmed it.
    host = models.CharField(max_length=255, blank=True)
    outside_id = models.CharField(max_length=40, blank=True)
    name = models.CharField(max_length=100, blank=True)
    # SHA-256 of the code, and until when it can be used.
    code_digest = models.CharField(max_length=64, blank=True)
    code_until = models.DateTimeField(null=True)
    linked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "host", "outside_id"],
                condition=models.Q(linked_at__isnull=False),
                name="one_person_per_linked_account",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Conversation(models.Model):
    """A thread on a forge and the session that answers there."""

    integration = models.ForeignKey(Integration, models.CASCADE, related_name="conversations")
    # Host and path of the repository: a project can move to another.
    place = models.CharField(max_length=600)
    thread = models.CharField(max_length=40)
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="conversations"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["integration", "place", "thread"], name="one_session_per_conversation"
            ),
        ]


class OutsideReplyQuerySet(models.QuerySet["OutsideReply"]):
    def write_anew(self, *states: str, now: datetime) -> None:
        """Have those that are in one of the states written again: they say something else now."""
        changed = {"revision": models.F("revision") + 1}
        pending = OutsideReply.State.PENDING
        # One that is being written is due again once that is done, and not before.
        self.filter(state=pending).update(**changed)
        self.filter(state__in=states).update(state=pending, next_at=now, **changed)


class OutsideReply(models.Model):
    """One thing of ours on a forge. What it says is read when it is written there."""

    class Kind(models.TextChoices):
        COMMENT = "comment", _("Reply")
        REVIEW = "review", _("Review")
        CHECK = "check", _("Check")
        # The branch of a session, and its pull request.
        PULL = "pull", _("Pull request")
        # To the comment that asks.
        REACTION = "react", _("Reaction")

    class State(models.TextChoices):
        # To be written, or written anew.
        PENDING = "pending", _("Waiting")
        # Written; what happens in the session makes it pending again.
        SHOWN = "shown", _("Shown")
        DONE = "done", _("Done")
        FAILED = "failed", _("Given up")

    # Stands in the comment, so that it is found where the answer of the forge was lost.
    id = models.CharField(primary_key=True, max_length=40)
    integration = models.ForeignKey(Integration, models.CASCADE, related_name="replies")
    kind = models.CharField(
        max_length=7, choices=Kind, default=Kind.COMMENT, db_default=Kind.COMMENT.value
    )
    # Of a kind: what a review says, or how far it is with what takes several steps.
    data = models.JSONField(default=dict, db_default={})
    # As of its conversation.
    place = models.CharField(max_length=600)
    thread = models.CharField(max_length=40)
    # The prompt that it answers, and its session; without one it says `text`.
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, null=True, related_name="outside_replies"
    )
    prompt_id = models.CharField(max_length=60, blank=True)
    text = models.TextField(blank=True)
    # Of a reaction, what it is to; in Slack, who alone reads it.
    to = models.CharField(max_length=40, blank=True)
    # Its id there.
    comment = models.CharField(max_length=40, blank=True)
    state = models.CharField(max_length=7, choices=State, default=State.PENDING)
    # Rises with everything that happens there.
    revision = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField()
    problem = models.CharField(max_length=400, blank=True)
    cause = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    objects = OutsideReplyQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"], condition=models.Q(state="pending"), name="outside_reply_due"
            ),
            models.Index(fields=["session", "state"], name="outside_replies_of_session"),
        ]

    def __str__(self) -> str:
        return self.id
