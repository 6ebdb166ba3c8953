"""A team's providers and their keys."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from providers.kinds import ProviderKind

KIND_LABELS = {
    ProviderKind.OPENAI: "OpenAI",
    ProviderKind.ANTHROPIC: "Anthropic",
    ProviderKind.COMPATIBLE: "OpenAI-compatible",
    ProviderKind.SCRIPTED: "Scripted demo",
}


class ProviderConfig(models.Model):
    """One provider of a team. `provider_id` is what `provider/model` names begin with."""

    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="providers")
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
    created_at = models.DateTimeField(default=timezone.now)
    # The last test call with the present key and address, and the class of its error, if any.
    tested_at = models.DateTimeField(null=True, blank=True)
    test_fault = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ("name", "id")
        constraints = (
            models.UniqueConstraint(
                fields=["team", "provider_id"], name="one_provider_of_an_id_per_team"
            ),
        )

    def __str__(self) -> str:
        return self.provider_id

    @property
    def last4(self) -> str:
        """The end of the current key; empty without one."""
        credential = getattr(self, "credential", None)
        return credential.last4 if isinstance(credential, Credential) else ""


class Credential(models.Model):
    """The key of a provider, encrypted. It goes to the provider and nowhere else."""

    class Kind(models.TextChoices):
        KEY = "key"
        # JSON of names and values, as a cloud account has several.
        CLOUD = "cloud"

    provider = models.OneToOneField(
        ProviderConfig, on_delete=models.CASCADE, related_name="credential"
    )
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.KEY)
    secret = models.TextField()
    last4 = models.CharField(max_length=4, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    rotated_at = models.DateTimeField(null=True, blank=True)


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
