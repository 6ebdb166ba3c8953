from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.utils import timezone

from teams.models.team import Team


class Budget(models.Model):
    """What may be spent in a calendar month of UTC. Units: USD.

    `team` is for all together, `each` for every member, `member` for one instead of `each`.
    """

    class Scope(models.TextChoices):
        TEAM = "team"
        EACH = "each"
        MEMBER = "member"

    team = models.ForeignKey(Team, models.CASCADE, related_name="budgets")
    scope = models.CharField(max_length=8, choices=Scope)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="budgets"
    )
    amount = models.DecimalField(max_digits=12, decimal_places=2)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["team", "scope"],
                condition=models.Q(user=None),
                name="teams_budget_once",
            ),
            models.UniqueConstraint(fields=["team", "user"], name="teams_budget_of_member_once"),
            models.CheckConstraint(
                condition=models.Q(scope="member", user__isnull=False)
                | models.Q(scope__in=("team", "each"), user=None),
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

    # What makes the call, at most one at a time: the id of a session, "title.<session>" or
    # "test.<provider>.<number>".
    id = models.CharField(primary_key=True, max_length=120)
    team = models.ForeignKey(Team, models.CASCADE, related_name="reservations")
    # As in `UsageEntry`: deleting an account must not fail the turn.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, db_constraint=False, related_name="+"
    )
    # As the usage will name them.
    provider = models.TextField(blank=True)
    model = models.TextField(blank=True)
    prompt = models.CharField(max_length=60, blank=True)
    amount = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.id}: {self.amount}"


class BudgetNotice(models.Model):
    """That a budget was nearly or wholly spent: kept, once for a month and a threshold.

    `user` is None for the team's budget, else whose budget it is. Units: USD; percent.
    """

    team = models.ForeignKey(Team, models.CASCADE, related_name="budget_notices")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="budget_notices"
    )
    # Its first day.
    month = models.DateField()
    threshold = models.PositiveSmallIntegerField()
    # As it was then.
    spent = models.DecimalField(max_digits=18, decimal_places=10)
    limit = models.DecimalField(max_digits=12, decimal_places=2)
    time = models.DateTimeField()
    # Who has read it and does not want to be shown it any more.
    put_away_by = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["team", "month", "threshold"],
                condition=models.Q(user=None),
                name="teams_notice_of_team_once",
            ),
            models.UniqueConstraint(
                fields=["team", "user", "month", "threshold"],
                name="teams_notice_of_member_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id} {self.user_id}: {self.threshold} %"
