from __future__ import annotations

from django.db import models


class FailedAttempt(models.Model):
    """How often an address has failed to sign in of late: to one account, or to any.

    Kept in the database, so that all processes count together and a restart forgets nothing.
    """

    class Kind(models.TextChoices):
        PASSWORD = "password"  # noqa: S105 - a name, no secret
        TOKEN = "token"  # noqa: S105 - a name, no secret
        INVITE = "invite"
        SETUP = "setup"
        MFA = "mfa"
        RESET = "reset"

    kind = models.CharField(max_length=8, choices=Kind)
    # Of IPv6 its /64 network, which is what one client has.
    address = models.CharField(max_length=45)
    # A digest, because people type passwords into the wrong field; empty for all accounts together.
    account = models.CharField(max_length=64, blank=True)
    # As of `failed_at`; it falls as time passes.
    failures = models.FloatField(default=0)
    failed_at = models.DateTimeField(db_index=True)
    blocked_until = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["account", "address", "kind"], name="teams_failed_attempt_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} from {self.address}"
