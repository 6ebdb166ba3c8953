from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject
from teams.models.team import Team

# The chain of what concerns no team.
SERVER_CHAIN = "-"


class AppendOnly(Exception):
    """Something tried to change or remove an entry: a fault of ours, never the caller's."""


class AuditEntryQuerySet(models.QuerySet["AuditEntry"]):
    """Refuses what would change many entries at once."""

    def update(self, **kwargs: Any) -> NoReturn:  # Django's own signature
        raise AppendOnly("audit entries are never changed")

    def delete(self) -> NoReturn:
        raise AppendOnly("audit entries are never removed")

    def erase(self, pseudonym: str = "") -> int:
        """Take away what can be replaced, and the salt that would tell what it was.

        Returns: how many entries. The chain still verifies.
        """
        return super().update(actor_email=pseudonym, names={}, ip=None, client="", salt="")


class ActorKind(models.TextChoices):
    """What has acted. Of operators: as such, outside the teams or in spite of them."""

    PERSON = "person", _("Person")
    SERVICE = "service", _("Service account")
    OPERATOR = "operator", _("Operator")
    SERVER = "server", _("Server")


class AuditEntry(models.Model):
    """Who did what to what, and when. Outlives the person and the team it names.

    Each is a link of its team's chain, or of the server's for those without a team. The database
    gives it `seq`, `prev_hash` and `hash` when it is written (PostgreSQL: when the transaction
    commits) and refuses changes, as migration 0017 says.

    `actor_email`, `names`, `ip` and `client` are personal: the chain has a salted hash of them
    only, so that they can be replaced when a person is erased, together with the salt.
    """

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        db_constraint=False,
        related_name="+",
    )
    actor_kind = models.CharField(max_length=8, choices=ActorKind.choices, default="", blank=True)
    # The ID of the API token that was used, if one was.
    token = models.CharField(max_length=40, blank=True, default="")
    # The address at that time: it still tells who it was when the account is gone.
    actor_email = models.EmailField(blank=True)
    team = models.ForeignKey(
        Team, models.DO_NOTHING, null=True, db_constraint=False, related_name="+"
    )
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=80, blank=True)
    data: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    # Addresses of people, names of files and the like in what happened, by the names that
    # sentences have for them.
    names: models.JSONField[JsonObject, JsonObject] = models.JSONField(default=dict)
    ip = models.GenericIPAddressField(null=True)
    client = models.CharField(max_length=200, blank=True, default="")
    time = models.DateTimeField(default=timezone.now)

    # Empty once the personal fields were replaced.
    salt = models.CharField(max_length=32, blank=True, default="")
    personal_hash = models.CharField(max_length=64, default="")
    digest = models.CharField(max_length=64, default="")
    seq = models.BigIntegerField(null=True)
    prev_hash = models.CharField(max_length=64, blank=True, default="")
    hash = models.CharField(max_length=64, blank=True, default="")

    objects = AuditEntryQuerySet.as_manager()

    class Meta:
        indexes = (
            # The settings page of a team lists its newest entries.
            models.Index(fields=["team", "-id"], name="teams_audit_team_newest"),
            # What has happened to one person, rule or session.
            models.Index(fields=["target_id", "action"], name="teams_audit_of_target"),
        )
        constraints = (
            models.UniqueConstraint(fields=["team", "seq"], name="teams_audit_team_seq"),
            models.UniqueConstraint(
                fields=["seq"], condition=models.Q(team=None), name="teams_audit_server_seq"
            ),
        )

    def __str__(self) -> str:
        return f"{self.time:%Y-%m-%d %H:%M} {self.actor_email} {self.action}"

    def save(self, *args: Any, **kwargs: Any) -> None:  # Django's own signature
        if not self._state.adding:
            raise AppendOnly("audit entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:  # Django's own signature
        raise AppendOnly("audit entries are never removed")

    @property
    def told(self) -> JsonObject:
        """What happened, with the people's addresses."""
        return {**self.data, **self.names}


class AuditHead(models.Model):
    """The end of a chain. Its lock puts the entries of concurrent transactions in order."""

    # The team's id, or `SERVER_CHAIN`.
    chain = models.CharField(primary_key=True, max_length=40)
    seq = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True, default="")
    # What the last check found wrong, which is repeated until it is gone.
    problem = models.CharField(max_length=300, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.chain} {self.seq}"


class SignedHead(models.Model):
    """The server's signature for a chain up to one entry. The database refuses changes.

    A checkpoint says that the entries up to there were removed on purpose; the database removes no
    others.
    """

    chain = models.CharField(max_length=40)
    seq = models.BigIntegerField()
    hash = models.CharField(max_length=64)
    time = models.DateTimeField(default=timezone.now)
    is_checkpoint = models.BooleanField(default=False)
    # Ed25519, both in hexadecimal digits.
    public_key = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)

    class Meta:
        # The last of a chain, of either kind.
        indexes = (models.Index(fields=["chain", "-seq"], name="teams_signed_head_newest"),)

    def __str__(self) -> str:
        return f"{self.chain} {self.seq} {self.time:%Y-%m-%d}"
