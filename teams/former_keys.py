"""Find what was hashed under a SECRET_KEY that this server no longer has."""

from __future__ import annotations

from opencode_web.lib.crypto import DecryptionError, fingerprints_with
from teams.models import FormerKey


def former_fingerprints(secret: str) -> list[str]:
    """Returns: the hash of a token under each key before those of the settings."""
    try:
        return fingerprints_with(FormerKey.objects.values_list("sealed", flat=True), secret)
    except DecryptionError:
        # Restored without the key: then nothing of before opens.
        return []
