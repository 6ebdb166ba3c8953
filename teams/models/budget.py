from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.ids import new_id
from teams.models.period import Period
from teams.models.team import Team

WARN_PERCENT = 80


class Budget(models.Model):
    """What may be spent in a period. Units: USD.

    `instance` is for all teams, `team` for all of one together, `project` for one of its projects,
    `each` for every member and `service` for every service account, `member` for one person or
    service account instead of these, `model` for what the team spends on some models. A soft one
    stops nothing: when it is reached, people are told.
    """

    class Scope(models.TextChoices):
        INSTANCE = "instance", _("Server")
        TEAM = "team", _("Whole team")
        PROJECT = "project", _("Project")
        EACH = "each", _("Each member")
        SERVICE = "service", _("Each service account")
        MEMBER = "member", _("Member")
        MODEL = "model", _("Model")

    # None only for those of the whole server.
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="budgets")
    scope = models.CharField(max_length=8, choices=Scope)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="budgets"
    )
    # Its id: projects belong to an app above this one.
    project = models.CharField(max_length=40, blank=True, default="")
    # A pattern such as "anthropic/*", as in the setting `limits.models`.
    model = models.CharField(max_length=200, blank=True, default="", db_default="")
    period = models.CharField(max_length=8, choices=Period, default=Period.MONTH)
    is_soft = models.BooleanField(default=False)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    # From this share on people are warned. Units: percent.
    warn_percent = models.PositiveSmallIntegerField(default=WARN_PERCENT, db_default=WARN_PERCENT)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["team", "scope", "project", "model", "period", "is_soft"],
                condition=models.Q(user=None),
                name="teams_budget_once",
            ),
            models.UniqueConstraint(
                fields=["team", "user", "period", "is_soft"], name="teams_budget_of_member_once"
            ),
            models.UniqueConstraint(
                fields=["period", "is_soft"],
                condition=models.Q(team=None),
                name="teams_budget_of_instance_once",
            ),
            models.CheckConstraint(
                condition=models.Q(scope="instance", team=None, user=None, project="", model="")
                | models.Q(
                    scope="member", team__isnull=False, user__isnull=False, project="", model=""
                )
                | models.Q(scope="project", team__isnull=False, user=None, model="")
                & ~models.Q(project="")
                | models.Q(scope="model", team__isnull=False, user=None, project="")
                & ~models.Q(model="")
                | models.Q(
                    scope__in=("team", "each", "service"),
                    team__isnull=False,
                    user=None,
                    project="",
                    model="",
                ),
                name="teams_budget_scope",
            ),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="teams_budget_amount"),
        )

    def __str__(self) -> str:
        return f"{self.team_id} {self.scope}: {self.amount}"


class Reservation(models.Model):
    """The most that a call of a model may cost, until its usage is known. Units: USD.

    It has no end of its own: a call that nobody has settled may still be billed. The take-over of
    a dead worker's session, or `settle_lost_calls`, turns it into usage.
    """

    # What makes the call, at most one at a time: the id of a session, "title.<session>",
    # "sampling.<part>" or "test.<provider>.<number>".
    id = models.CharField(primary_key=True, max_length=120)
    team = models.ForeignKey(Team, models.CASCADE, related_name="reservations")
    # As in `UsageEntry`: deleting an account must not fail the turn.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, db_constraint=False, related_name="+"
    )
    project = models.CharField(max_length=40, blank=True, default="")
    # As the usage will name them.
    provider = models.TextField(blank=True)
    model = models.TextField(blank=True)
    api_model = models.TextField(blank=True, default="", db_default="")
    prompt = models.CharField(max_length=60, blank=True)
    amount = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.id}: {self.amount}"

    @property
    def called(self) -> str:
        """The model, by the name that its provider knows: no other gets around a budget."""
        return f"{self.provider}/{self.api_model or self.model}"


class BudgetNotice(models.Model):
    """That a budget was nearly or fully spent: kept, once for a period and a threshold.

    Without a team it is the server's, with `user`, `project` or `model` theirs. Units: USD,
    percent.
    """

    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="budget_notices")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="budget_notices"
    )
    project = models.CharField(max_length=40, blank=True, default="")
    model = models.CharField(max_length=200, blank=True, default="", db_default="")
    period = models.CharField(max_length=8, choices=Period, default=Period.MONTH)
    is_soft = models.BooleanField(default=False)
    # The first day of the period.
    start = models.DateField()
    threshold = models.PositiveSmallIntegerField()
    # As it was then.
    spent = models.DecimalField(max_digits=18, decimal_places=10)
    limit = models.DecimalField(max_digits=12, decimal_places=2)
    time = models.DateTimeField()
    # Who has read it and does not want to be shown it any more.
    put_away_by = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    # Whether the people whom it concerns have been chosen, to be told of it.
    is_told = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["team", "project", "model", "period", "is_soft", "start", "threshold"],
                condition=models.Q(user=None),
                name="teams_notice_of_team_once",
            ),
            models.UniqueConstraint(
                fields=["team", "user", "period", "is_soft", "start", "threshold"],
                name="teams_notice_of_member_once",
            ),
            models.UniqueConstraint(
                fields=["period", "is_soft", "start", "threshold"],
                condition=models.Q(team=None),
                name="teams_notice_of_instance_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id} {self.user_id}: {self.threshold} %"


def new_request_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("bud")


class BudgetRequest(models.Model):
    """That a person asks for more of a budget until the end of its period. Units: USD.

    What is granted counts on top of the budget; of one for each member, only for who has asked.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Waiting")
        GRANTED = "granted", _("Granted")
        DENIED = "denied", _("Denied")

    id = models.CharField(primary_key=True, max_length=40, default=new_request_id, editable=False)
    budget = models.ForeignKey(Budget, models.CASCADE, related_name="requests")
    # Where it is asked, also for a budget of the whole server.
    team = models.ForeignKey(Team, models.CASCADE, related_name="budget_requests")
    asker = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    # The session that could not go on, if it was one.
    session = models.CharField(max_length=40, blank=True, default="")
    # The first day of the period.
    start = models.DateField()
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    granted = models.DecimalField(max_digits=12, decimal_places=2, default=Decimal(0))
    answer = models.CharField(max_length=500, blank=True, default="")
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    answered_at = models.DateTimeField(null=True)
    # Whether the asker has read the answer and does not want to be shown it any more.
    is_put_away = models.BooleanField(default=False)

    class Meta:
        constraints = (
            # One question at a time.
            models.UniqueConstraint(
                fields=["budget", "asker", "start"],
                condition=models.Q(status="pending"),
                name="teams_budget_request_once",
            ),
        )
        indexes = [models.Index(fields=["team", "status"], name="budget_requests_of_team")]

    def __str__(self) -> str:
        return f"{self.id}: {self.amount} {self.status}"
