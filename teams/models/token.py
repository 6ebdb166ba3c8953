from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.ids import new_id
from teams.models.membership import Membership
from teams.models.team import Team
from teams.models.user import User


def new_token_id() -> str:
    """Named, because the migration refers to it."""
    return new_id("tok")


class Scope(models.TextChoices):
    """What a token may do within the role of its person. Each includes the ones before it."""

    READ = "read", _("Read")
    WRITE = "write", _("Read and write")
    ADMIN = "admin", _("Full access, including settings")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Tokens by state."""

    def live(self, *, now: datetime | None = None) -> ApiTokenQuerySet:
        """Neither revoked nor expired."""
        return self.filter(
            models.Q(expires_at=None) | models.Q(expires_at__gt=now or timezone.now()),
            revoked_at=None,
        )

    def of_leavers(self) -> ApiTokenQuerySet:
        """Those whose maker cannot use the team any more, or is not known."""
        here = Membership.objects.current().filter(
            team=models.OuterRef("team"), user=models.OuterRef("made_by"), user__is_active=True
        )
        return self.exclude(models.Exists(here))

    def made_for_services(self, maker: User) -> ApiTokenQuerySet:
        """The live ones of service accounts whose secrets a person has seen."""
        return self.live().filter(made_by=maker).exclude(user__service_of=None)


class ApiToken(models.Model):
    """A person's key to one team. Only the digest is kept; `prefix` finds and names the row."""

    id = models.CharField(primary_key=True, max_length=40, default=new_token_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    team = models.ForeignKey(Team, models.CASCADE, related_name="api_tokens")
    # Who has seen its secret: of a service account not `user`. None where that is not known.
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    name = models.CharField(max_length=80)
    # `ocw_` and the first 8 of the 40 characters; the other 32 still carry 190 bits.
    prefix = models.CharField(max_length=12, db_index=True)
    digest = models.CharField(max_length=64, unique=True)
    # Of an MCP client: the digest of the ID that it has registered. Empty for all others.
    client = models.CharField(max_length=64, blank=True, default="")
    scopes: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    # Of an MCP client with refresh tokens: until when its secret is good, and how often it has got
    # another. `expires_at` is then when it can be renewed no more.
    renew_by = models.DateTimeField(null=True, blank=True)
    renewals = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    @property
    def is_for_mcp(self) -> bool:
        """Whether it is good for `/mcp` alone."""
        return bool(self.client)

    @property
    def scope_set(self) -> frozenset[Scope]:
        return frozenset(Scope(scope) for scope in self.scopes)

    @property
    def scope(self) -> Scope:
        """The widest that it has; each includes those before it."""
        return Scope(self.scopes[-1])

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_due(self) -> bool:
        """Whether it opens nothing until it is renewed."""
        return self.renew_by is not None and self.renew_by <= timezone.now()
