from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import OrderedJSONField
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject

# No underscore: a slug can never be taken for an id, and both may stand in a URL.
SLUG_PATTERN = r"[a-z0-9]+(?:-[a-z0-9]+)*"


def new_team_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("team")


class OwnAccounts(models.TextChoices):
    """Where members may use accounts at providers that are theirs and not the team's."""

    NEVER = "never", _("Not allowed")
    # The team's code goes only where the team sends it anyway.
    TEAM = "team", _("With providers used by the team")
    ANY = "any", _("With any provider in the catalog")


class Team(models.Model):
    """What owns projects, credentials and rules. Reached by slug in pages, by either in the API."""

    id = models.CharField(primary_key=True, max_length=40, default=new_team_id, editable=False)
    slug = models.CharField(
        max_length=40,
        unique=True,
        validators=[
            RegexValidator(
                rf"^{SLUG_PATTERN}\Z", _("Use only lowercase letters, digits and single hyphens.")
            )
        ],
    )
    name = models.CharField(max_length=80)
    # The shape of opencode.json. What it means is checked by who reads it, above this app.
    config: models.JSONField[JsonObject, JsonObject] = OrderedJSONField(default=dict, blank=True)
    # Whether it has a `Budget`: without one nothing is asked about them.
    has_budgets = models.BooleanField(default=False)
    # Whether models whose price is not known may be used although a budget holds.
    allows_unpriced_models = models.BooleanField(default=False)
    own_accounts = models.CharField(max_length=8, choices=OwnAccounts, default=OwnAccounts.ANY)
    # Whether well-known keys are hidden in what people send, models write and tools print.
    hides_keys = models.BooleanField(default=True, db_default=True)
    # What sign-ins must have for people to work in the team: said by its owners, or for the whole
    # server by `SignInPolicy`, which is kept here too so that no request has to ask for it.
    requires_mfa = models.BooleanField(default=False)
    requires_sso = models.BooleanField(default=False)
    # The slug of the one provider that counts for it; empty for any of the server's.
    sso_provider = models.CharField(max_length=40, blank=True, default="", db_default="")
    instance_requires_mfa = models.BooleanField(default=False)
    instance_requires_sso = models.BooleanField(default=False)
    # Kinds of changes that a second person approves, a `sessions.models.ChangeKind` each.
    needs_approval: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, blank=True
    )
    # Sessions that have waited since before look again.
    budgets_changed_at = models.DateTimeField(null=True)
    # What operators allow it at the same time (`teams.limits`); none for what the server allows.
    max_turns = models.PositiveIntegerField(null=True, blank=True)
    max_commands = models.PositiveIntegerField(null=True, blank=True)
    max_terminals = models.PositiveIntegerField(null=True, blank=True)
    max_disk_mb = models.PositiveIntegerField(null=True, blank=True)
    # Until when an operator is in it by breaking the glass, so that its pages can say so.
    emergency_until = models.DateTimeField(null=True)
    # Rises when what its people see of its work changes otherwise than by their roles. 0 while
    # everybody sees all of it.
    access_version = models.PositiveIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name

    @property
    def needs_mfa(self) -> bool:
        return self.requires_mfa or self.instance_requires_mfa

    @property
    def needs_sso(self) -> bool:
        return self.requires_sso or self.instance_requires_sso
