from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.fields import EncryptedTextField
from opencode_web.lib.json import JsonObject
from teams.models.membership import Membership, Role
from teams.models.team import SLUG_PATTERN, Team

# A rule about this claim compares the domain of the e-mail address.
DOMAIN_CLAIM = "domain"


class IdentityProvider(models.Model):
    """Where people sign in instead of here: single sign-on (SSO), set up by operators.

    The one of kind SCIM is a directory, where nobody signs in: it keeps accounts and groups here up
    to date, and is never enabled.
    """

    class Kind(models.TextChoices):
        OIDC = "oidc", _("OpenID Connect")
        GOOGLE = "google", _("Google")
        GITLAB = "gitlab", _("GitLab")
        GITHUB = "github", _("GitHub")
        SAML = "saml", _("SAML")
        SCIM = "scim", _("SCIM")

    # Part of the redirect address and of the key of every linked account, so it never changes.
    slug = models.CharField(
        max_length=40, unique=True, validators=[RegexValidator(rf"^{SLUG_PATTERN}\Z")]
    )
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=60)
    # The issuer. Linked accounts are those of this server, so it never changes.
    server_url = models.CharField(max_length=500, blank=True)
    client_id = models.CharField(max_length=200, blank=True)
    secret = EncryptedTextField(blank=True)
    # Of SAML: what its metadata says.
    metadata: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    # People with a confirmed address here are linked by it, and may get an account.
    domains: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    # Whether addresses in these domains count as confirmed, although the provider does not say so.
    trusts_email = models.BooleanField(default=False)
    allows_signup = models.BooleanField(default=False)
    # Whether it asks for a second factor, so that nobody has to be asked here again.
    counts_as_mfa = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name

    def covers(self, email: str) -> bool:
        """Whether the address is in one of the domains."""
        return email.rpartition("@")[2].lower() in self.domains


class IdentityRule(models.Model):
    """Who signs in with this value in a claim has this role in the team."""

    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="rules")
    claim = models.CharField(max_length=200)
    value = models.CharField(max_length=300)
    team = models.ForeignKey(Team, models.CASCADE, related_name="+")
    role = models.CharField(max_length=8, choices=Role.choices)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["provider", "claim", "value", "team"], name="teams_identity_rule_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.claim}={self.value}"


class ManagedMembership(models.Model):
    """A membership that the rules of a provider made, and may change or end."""

    membership = models.OneToOneField(Membership, models.CASCADE, primary_key=True)
    provider = models.ForeignKey(IdentityProvider, models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"{self.membership_id} by {self.provider_id}"


class TeamCreation(models.TextChoices):
    """Who may create teams on this server."""

    OPERATORS = "operators", _("Operators")
    EVERYONE = "everyone", _("Everyone")


class SignInPolicy(models.Model):
    """What the whole server asks of a sign-in. One row, or none for nothing."""

    requires_mfa = models.BooleanField(default=False)
    requires_sso = models.BooleanField(default=False)
    # For the day on which the identity provider does not answer.
    exempts_operators = models.BooleanField(default=True)
    # Who may create teams; empty for what `TEAM_CREATION` says.
    team_creation = models.CharField(
        max_length=10, choices=TeamCreation.choices, blank=True, default=""
    )

    def __str__(self) -> str:
        return "Sign-in policy"


class ResetLink(models.Model):
    """A link of an operator with which one person sets a new password. Only the digest is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"for {self.user_id}"
