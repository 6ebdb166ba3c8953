from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models

from teams.models.period import Period
from teams.models.team import Team


class Basis(models.TextChoices):
    """Where the cost of a call comes from."""

    COUNTED = "counted"
    # The provider itself has said what it bills.
    BILLED = "billed"
    # The call did not come to its end: this is the most that the provider may bill.
    BOUND = "bound"
    # Nobody has said what the model costs.
    UNPRICED = "unpriced"
    # Called with a person's own account: it costs the team nothing.
    PERSONAL = "personal"


class UsageEntry(models.Model):
    """What one answer of a model used.

    Folded from a session's log, and kept when the session or its project is deleted. Units: tokens;
    `input` is without what was read from the cache or written to it.
    """

    # "<session>.<sequence number of the event>": folding the log again gives the same row.
    id = models.CharField(primary_key=True, max_length=70)
    team = models.ForeignKey(Team, models.CASCADE, related_name="usage")
    # Who prompted, not who owns the session; empty once the account is gone.
    # No constraint: an account that is deleted while its turn runs must not fail the turn.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        db_constraint=False,
        related_name="usage",
    )
    # Ids of rows that may be gone.
    session = models.CharField(max_length=40, db_index=True)
    project = models.CharField(max_length=40)
    # The prompt whose turn it belongs to; empty for what belongs to none, such as a title.
    prompt = models.CharField(max_length=60, blank=True)
    # Empty where the log does not name them.
    provider = models.TextField(blank=True)
    model = models.TextField(blank=True)
    # What its provider calls it, where that is another name: budgets of models count by it.
    api_model = models.TextField(blank=True, default="", db_default="")
    input = models.BigIntegerField()
    output = models.BigIntegerField()
    reasoning = models.BigIntegerField()
    cache_read = models.BigIntegerField()
    cache_write = models.BigIntegerField()
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    basis = models.CharField(max_length=8, choices=Basis, default=Basis.COUNTED)
    time = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["team", "time"], name="usage_of_team"),
            # What all teams together have used lately: the operators' console.
            models.Index(fields=["time"], name="usage_of_all"),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.cost}"

    @property
    def called(self) -> str:
        """The model, by the name that its provider knows: no other gets around a budget."""
        return f"{self.provider}/{self.api_model or self.model}"


class Spend(models.Model):
    """The sum of the costs of a team's entries in one period. Units: USD.

    Of all together, of one member, of one project, or on one model.
    """

    # "<team>.<period>", then ".<user>", ".<project>" or a hash of the model: one statement inserts
    # or adds.
    id = models.CharField(primary_key=True, max_length=120)
    # None for what teams have spent that are deleted: the server's budgets count it.
    team = models.ForeignKey(Team, models.CASCADE, null=True, related_name="+")
    # Without a constraint, as in `UsageEntry`.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, db_constraint=False, related_name="+"
    )
    project = models.CharField(max_length=40, blank=True, default="")
    # "<provider>/<model>", as its provider calls it.
    model = models.TextField(blank=True, default="", db_default="")
    period = models.CharField(max_length=8, choices=Period, default=Period.MONTH)
    # Its first day.
    start = models.DateField()
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))

    class Meta:
        indexes = [
            models.Index(fields=["team", "start"], name="spend_of_team"),
            models.Index(
                fields=["start", "period"],
                condition=models.Q(user=None, project="", model=""),
                name="spend_of_all",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.cost}"
