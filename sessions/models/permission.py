from __future__ import annotations

from django.conf import settings
from django.db import models

from sessions.models.request import RequestQuerySet

# What a pattern does not mean literally; see `tools/permissions/wildcards.py`.
_NOT_LITERAL = frozenset("*?\\")


class PermissionRequest(models.Model):
    """A tool call that waits for a person. The first answer wins."""

    class Status(models.TextChoices):
        PENDING = "pending"
        ONCE = "once"
        ALWAYS = "always"
        REJECT = "reject"
        # The turn was stopped before anybody answered.
        CANCELLED = "cancelled"
        # Nobody answered before its deadline.
        EXPIRED = "expired"

    id = models.CharField(primary_key=True, max_length=40)
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, related_name="permissions"
    )
    message_id = models.CharField(max_length=60)
    call_id = models.CharField(max_length=200)
    # The agent of the turn that issued the call; a later switch does not change its policy.
    agent = models.CharField(max_length=60)
    permission = models.CharField(max_length=100)
    patterns = models.JSONField(default=list)
    always = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    # Whose rule asks, in words; empty where it is not a rule that asks.
    source = models.TextField(blank=True, default="")
    # Nobody who has prompted the session may answer; see `sessions/rules/second_person.py`.
    second_person = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    feedback = models.TextField(blank=True)
    replied_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField()
    # Only where the settings set a deadline.
    expires_at = models.DateTimeField(null=True)
    replied_at = models.DateTimeField(null=True)

    objects = RequestQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["session"],
                condition=models.Q(status="pending"),
                name="pending_permission",
            ),
            models.Index(fields=["session", "call_id"], name="permission_of_call"),
        ]

    @property
    def exact(self) -> list[str]:
        """What was asked for itself, as patterns that match nothing else.

        Empty where "always" may remember nothing, or where something of it is no literal text.
        """
        asked = [str(pattern) for pattern in self.patterns]
        if not self.always or any(_NOT_LITERAL & set(pattern) for pattern in asked):
            return []
        return asked


class AdminsAsked(models.Model):
    """Somebody who may not answer a request has asked those who may. Operational, not folded."""

    request = models.OneToOneField(
        PermissionRequest, models.CASCADE, primary_key=True, related_name="admins_asked"
    )
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    asked_at = models.DateTimeField()


class RuleScope(models.TextChoices):
    """How far an "always" answer reaches."""

    SESSION = "session"
    PROJECT = "project"
    TEAM = "team"


class SavedRule(models.Model):
    """An "always" answer, kept until somebody revokes it.

    For a project, or one session of it with its sub-agents; or for a team, then without a project.
    """

    team = models.ForeignKey("teams.Team", models.CASCADE, null=True, related_name="+")
    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, null=True, related_name="rules"
    )
    # The one at the top of its tree.
    session = models.ForeignKey(
        "agent_sessions.Session", models.CASCADE, null=True, related_name="rules"
    )
    permission = models.CharField(max_length=100)
    pattern = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "permission", "pattern"],
                condition=models.Q(session=None),
                name="one_saved_rule_per_pattern",
            ),
            models.UniqueConstraint(
                fields=["session", "permission", "pattern"], name="one_rule_per_pattern_of_session"
            ),
            models.UniqueConstraint(
                fields=["team", "permission", "pattern"], name="one_rule_per_pattern_of_team"
            ),
            models.CheckConstraint(
                condition=models.Q(team=None, project__isnull=False)
                | models.Q(team__isnull=False, project=None, session=None),
                name="saved_rule_of_team_or_project",
            ),
        ]

    @property
    def scope(self) -> RuleScope:
        if self.project_id is None:
            return RuleScope.TEAM
        return RuleScope.PROJECT if self.session_id is None else RuleScope.SESSION
