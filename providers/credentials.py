"""Keys of providers at rest. A key goes in here and comes out only for a call."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import DecryptionError, decrypt, encrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.text import is_secret_text
from providers.models import Credential, ProviderConfig
from providers.secret import Secret
from teams.models import User

MAX_KEY_CHARS = 4_096
# Of a shorter key, four characters would give too much away.
MIN_CHARS_FOR_LAST4 = 12


def put_key(row: ProviderConfig, key: str, *, actor: User | None) -> Credential:
    """Store or replace the key of a provider. Must run inside an action's transaction.

    Raises: Invalid when it cannot be a key.
    """
    key = key.strip()
    if not key or not is_secret_text(key, max_chars=MAX_KEY_CHARS):
        raise Invalid(_("This is not a key: it must be printable text without line breaks."))
    fields = {"secret": encrypt(key), "last4": key[-4:] if len(key) >= MIN_CHARS_FOR_LAST4 else ""}
    credential, is_new = Credential.objects.get_or_create(
        provider=row, defaults={**fields, "created_by": actor}
    )
    if not is_new:
        Credential.objects.filter(pk=credential.pk).update(
            **fields, created_by=actor, rotated_at=timezone.now()
        )
        credential.refresh_from_db()
    # What a test has found was about the earlier key.
    ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="")
    # `pick_key` reads the relation, and the caller's row may have the earlier key cached.
    row.credential = credential
    return credential


def pick_key(row: ProviderConfig | None) -> Secret:
    """Returns: the key of a provider, empty when it has none.

    Raises: Invalid when it was encrypted under a key that this server no longer has.
    """
    credential: Credential | None = getattr(row, "credential", None)
    if credential is None:
        return Secret("")
    try:
        return Secret(decrypt(credential.secret))
    except DecryptionError as exc:
        raise Invalid(
            _(
                "The key of {name} cannot be read with this server's SECRET_KEY. Set it "
                "again under Team settings → Models."
            ).format(name=credential.provider.name)
        ) from exc


def mask(last4: str) -> str:
    """What a person sees of a key."""
    return f"•••• {last4}" if last4 else "••••"
