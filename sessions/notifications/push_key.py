"""The server's key for Web Push, made when it is first needed and kept encrypted."""

from __future__ import annotations

from opencode_web.lib.crypto import decrypt, encrypt
from sessions.models import PushKey
from sessions.notifications.push_crypto import VapidKey, new_private, read_private

_ONLY = 1


def load_key() -> VapidKey:
    """Raises: DecryptionError where SECRET_KEY has changed without `manage.py rotate_keys`."""
    row = PushKey.objects.filter(pk=_ONLY).first()
    if row is None:
        # Of two processes that make one at once, both use the one that was written.
        row, _ = PushKey.objects.get_or_create(
            pk=_ONLY, defaults={"private": encrypt(new_private())}
        )
    return read_private(decrypt(row.private))
