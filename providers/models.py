"""Accounts at providers and their credentials.

An account belongs to a team, to a person or to the instance. Who may use it follows from that:
`providers.accounts` has the rule.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext

from opencode_web.lib.fields import EncryptedTextField
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from providers.kinds import ProviderKind

KIND_LABELS = {
    ProviderKind.OPENAI: "OpenAI",
    ProviderKind.ANTHROPIC: "Anthropic",
    ProviderKind.COMPATIBLE: "OpenAI-compatible",
    ProviderKind.SCRIPTED: "Scripted demo",
}


class Circuit(models.Model):
    """What calls may not be made with for a while, because the last ones have failed.

    `providers.health` has the rules. Columns that are written by failures, and by what ends them.
    """

    # In a row, since the last call that went well.
    failures = models.PositiveIntegerField(default=0)
    # The name of the newest one's class, and the session that met it.
    failure = models.CharField(max_length=40, blank=True)
    failed_by = models.CharField(max_length=60, blank=True)
    # Until then no call is made; after it one, which decides whether it is closed again.
    open_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class ProviderConfig(Circuit):
    """An account at one provider. `provider_id` is what `provider/model` names begin with.

    It belongs to `team` or to `owner`, a person; to the instance when it has neither.
    """

    team = models.ForeignKey(
        "teams.Team", on_delete=models.CASCADE, related_name="providers", null=True, blank=True
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="providers",
        null=True,
        blank=True,
    )
    # Of the instance's: whether every team may use it, or only `shared_with`.
    for_all_teams = models.BooleanField(default=True)
    shared_with = models.ManyToManyField("teams.Team", related_name="+", blank=True)
    provider_id = models.CharField(max_length=60)
    kind = models.CharField(
        max_length=20, choices=[(kind.value, label) for kind, label in KIND_LABELS.items()]
    )
    name = models.CharField(max_length=100)
    base_url = models.CharField(max_length=500, blank=True)
    # Of a cloud account: where it is, as adapters read it (`providers.clouds`). Nothing secret.
    connection: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    enabled = models.BooleanField(default=True)
    # Picked models: id -> overrides in the shape of opencode.json's provider.<id>.models.<id>.
    picked: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict, blank=True)
    # What the provider itself says that this account can use: id -> models.dev's fields. Empty
    # until it was asked; the catalog counts then.
    listed: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict, blank=True)
    listed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # The last test call with the present key and address, and the class of its error, if any.
    tested_at = models.DateTimeField(null=True, blank=True)
    test_fault = models.CharField(max_length=40, blank=True)
    # When a model has answered for the first time. No account is a default before that.
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("name", "id")
        constraints = (
            models.UniqueConstraint(
                fields=["team", "provider_id"], name="one_provider_of_an_id_per_team"
            ),
            models.UniqueConstraint(
                fields=["owner", "provider_id"], name="one_provider_of_an_id_per_person"
            ),
            models.UniqueConstraint(
                fields=["provider_id"],
                condition=models.Q(team=None, owner=None),
                name="one_provider_of_an_id_of_the_instance",
            ),
            models.CheckConstraint(
                condition=models.Q(team=None) | models.Q(owner=None),
                name="provider_of_a_team_or_a_person",
            ),
        )

    def __str__(self) -> str:
        return self.provider_id

    @property
    def shown_name(self) -> str:
        """Its name. That of the demo is translated, unless somebody has renamed it."""
        return gettext(self.name) if self.kind == ProviderKind.SCRIPTED else self.name

    @property
    def config(self) -> JsonObject:
        """The settings of the team that it belongs to, in the shape of opencode.json."""
        return self.team.config if self.team else {}

    @property
    def holder(self) -> str:
        """Whose it is, in a word for operators."""
        if self.team is not None:
            return self.team.slug
        return self.owner.email if self.owner else "instance"

    @property
    def is_personal(self) -> bool:
        """Whether a person pays for what is called with it."""
        return self.owner_id is not None

    @property
    def is_of_instance(self) -> bool:
        """Whether it belongs to whoever runs the server."""
        return self.team_id is None and self.owner_id is None

    @property
    def credential(self) -> Credential | None:
        """The newest credential that works; without one the newest of all."""
        rows = sorted(self.credentials.all(), key=lambda one: (not one.fault, one.pk))
        return rows[-1] if rows else None

    @property
    def keys(self) -> list[Credential]:
        """The credentials that take turns: those of the newest one's kind that have no fault."""
        newest = self.credential
        rows = self.credentials.all()
        return [one for one in rows if newest and one.kind == newest.kind and not one.fault]


class Credential(Circuit):
    """A credential of an account, encrypted. It goes to the provider and nowhere else."""

    class Kind(models.TextChoices):
        KEY = "key"
        # JSON of names and values, as a cloud account has several.
        CLOUD = "cloud"
        # JSON of a `providers.llm.sign_in.Grant`: tokens that somebody has signed in for.
        OAUTH = "oauth"

    class Fault(models.TextChoices):
        """Why it is used no longer until somebody signs in again or replaces it."""

        NONE = ""
        SIGNED_OUT = "signed-out"

    provider = models.ForeignKey(
        ProviderConfig, on_delete=models.CASCADE, related_name="credentials"
    )
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.KEY)
    # What people call it where a provider has several; not unique.
    label = models.CharField(max_length=100, blank=True)
    secret = EncryptedTextField()
    last4 = models.CharField(max_length=4, blank=True)
    # Of a sign-in: whose it is, as the provider says; never a secret.
    account = models.CharField(max_length=200, blank=True)
    # When the access token, or a key that its vendor has dated, ends.
    expires_at = models.DateTimeField(null=True, blank=True)
    fault = models.CharField(max_length=20, choices=Fault, default=Fault.NONE, blank=True)
    # Somebody is refreshing it until then: of all processes one asks for a new token.
    refreshing_until = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    rotated_at = models.DateTimeField(null=True, blank=True)
    # When it was chosen last, where there are several or it has limits.
    used_at = models.DateTimeField(null=True, blank=True)
    # What it may be used for at once and within a minute, if its provider allows only so much.
    max_calls = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)

    @property
    def has_limits(self) -> bool:
        return self.max_calls is not None or self.tokens_per_minute is not None


class KeyUse(models.Model):
    """A call that uses a key with limits, or a turn that stands in line for one.

    Turns and then ids are the order of the line. What has ended is kept for the minute that its
    tokens count.
    """

    account = models.ForeignKey(ProviderConfig, on_delete=models.CASCADE, related_name="uses")
    # None while it waits.
    credential = models.ForeignKey(Credential, on_delete=models.CASCADE, null=True)
    # The session whose turn it is.
    call = models.CharField(max_length=60)
    # Who waits: a person, or a team where nobody is known; and in which round of the line.
    asker = models.CharField(max_length=60, blank=True)
    turn = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Its process has died unless it says before then that it has not.
    alive_until = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["account", "ended_at"], name="key_use_of_account"),)

    def __str__(self) -> str:
        return f"{self.account_id} {self.call}"


def new_attempt_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("sia")


class SignInAttempt(models.Model):
    """A sign-in at a provider that somebody has begun. It ends as a credential, or with a reason.

    Any process may go on with it: what a flow has to remember is in `state`.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        COMPLETE = "complete"
        FAILED = "failed"
        # Somebody has given up, or begun anew.
        CANCELLED = "cancelled"

    id = models.CharField(primary_key=True, max_length=40, default=new_attempt_id, editable=False)
    provider_id = models.CharField(max_length=60)
    # Whose account it becomes, as in `ProviderConfig`.
    team = models.ForeignKey(
        "teams.Team", on_delete=models.CASCADE, related_name="+", null=True, blank=True
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        null=True,
        blank=True,
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    method = models.CharField(max_length=40)
    # JSON of the flow: it holds what proves later that it was begun here.
    state = EncryptedTextField()
    url = models.CharField(max_length=4_000)
    user_code = models.CharField(max_length=40, blank=True)
    # Where the provider sends the browser back to; empty for a flow that is asked for its end.
    redirect_uri = models.CharField(max_length=500, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    # The name of a class of `providers.llm.sign_in.errors`, once it has failed.
    fault = models.CharField(max_length=40, blank=True)
    interval_s = models.FloatField(default=5)
    next_poll_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.id

    @property
    def is_polled(self) -> bool:
        """Whether its provider is asked for the end; else the person brings something back."""
        return self.interval_s > 0


class LearnedBound(models.Model):
    """By how much a model has been billed beyond what `providers.bounds` expects, from 1."""

    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="+")
    provider = models.TextField()
    model = models.TextField()
    input = models.DecimalField(max_digits=9, decimal_places=3)
    output = models.DecimalField(max_digits=9, decimal_places=3)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["team", "provider", "model"], name="one_learned_bound_per_model"
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"
