from __future__ import annotations

from django.db import models
from django.utils import timezone

from opencode_web.lib.crypto import DecryptionError, fingerprints_with
from opencode_web.lib.fields import EncryptedTextField


class FormerKeyQuerySet(models.QuerySet["FormerKey"]):
    """Keys from before those of the settings."""

    def fingerprints(self, secret: str) -> list[str]:
        """Returns: the hash of a token under each of them, to look the token up."""
        try:
            return fingerprints_with(self.values_list("sealed", flat=True), secret)
        except DecryptionError:
            # Restored without the key: then nothing of before opens.
            return []


class FormerKey(models.Model):
    """What finds tokens and verifies signed heads of a SECRET_KEY before this one.

    Only `manage.py rotate_keys` writes it. It opens nothing that was encrypted.
    """

    # Tells the key from others without giving it away.
    name = models.CharField(primary_key=True, max_length=16)
    sealed = EncryptedTextField()
    # The key that verifies the heads it has signed, itself signed, see `audit_chain.heads`.
    audit_key = models.CharField(max_length=200, blank=True, default="")
    rotated_at = models.DateTimeField(default=timezone.now)

    objects = FormerKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
