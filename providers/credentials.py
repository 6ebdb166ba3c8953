"""Keys of providers at rest. A key goes in here and comes out only for a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.config_references import (
    VARIABLE,
    NotGiven,
    fill_variables,
    references_in,
)
from opencode_web.lib.crypto import DecryptionError, decrypt, encrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.text import is_secret_text
from providers.llm.secret import Secret
from providers.models import Credential, ProviderConfig
from teams.models import User

MAX_KEY_CHARS = 4_096
# Of a shorter key, four characters would give too much away.
MIN_CHARS_FOR_LAST4 = 12


def put_key(row: ProviderConfig, key: str, *, actor: User | None) -> Credential:
    """Store or replace the key of a provider. Must run inside an action's transaction.

    A reference to a variable is stored as it is, so that the key is always what that has.

    Raises: Invalid when it cannot be a key, or refers to what operators have not listed.
    """
    key = key.strip()
    _check_text(key)
    has_last4 = len(key) >= MIN_CHARS_FOR_LAST4 and not VARIABLE.fullmatch(key)
    fields = {
        "kind": Credential.Kind.KEY,
        "secret": encrypt(key),
        "last4": key[-4:] if has_last4 else "",
    }
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
    # `pick_credential` reads the relation, and the caller's row may have the earlier key cached.
    row.credential = credential
    return credential


def _check_text(key: str) -> None:
    check_reference(key)
    if not key or not is_secret_text(key, max_chars=MAX_KEY_CHARS):
        raise Invalid(_("This is not a key: it must be printable text without line breaks."))


@dataclass(frozen=True, slots=True)
class Picked:
    """A key, or what a cloud account wants in place of one; false when there is neither."""

    key: Secret = field(default_factory=lambda: Secret(""))
    secrets: Mapping[str, Secret] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.key or self.secrets)


def put_cloud_keys(row: ProviderConfig, keys: Mapping[str, str], *, actor: User | None) -> None:
    """Store or replace the keys of a cloud account. Must run inside an action's transaction."""
    fields = {
        "kind": Credential.Kind.CLOUD,
        "secret": encrypt(json.dumps(dict(keys))),
        "last4": "",
        "created_by": actor,
        "rotated_at": timezone.now(),
    }
    row.credential, _is_new = Credential.objects.update_or_create(provider=row, defaults=fields)
    ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="")


def put_account(
    row: ProviderConfig, *, key: str, secrets: Mapping[str, str], actor: User | None
) -> bool:
    """Store what is given of a key or of the secrets of a cloud account, in place of all before.

    Must run inside an action's transaction.

    Returns: whether anything was given.
    Raises: Invalid when one of them cannot be a secret.
    """
    given = {name: value.strip() for name, value in secrets.items() if value.strip()}
    for value in given.values():
        _check_text(value)
    if key:
        put_key(row, key, actor=actor)
    elif given:
        put_cloud_keys(row, given, actor=actor)
    return bool(key or given)


def pick_credential(row: ProviderConfig | None) -> Picked:
    """Returns: the credential of a provider.

    Raises: Invalid when it was encrypted under a key that this server no longer has, or refers to
    a variable that operators no longer list.
    """
    credential: Credential | None = getattr(row, "credential", None)
    if credential is None:
        return Picked()
    is_cloud = credential.kind == Credential.Kind.CLOUD
    try:
        text = decrypt(credential.secret)
        # Each by itself: the value of a variable must not end the text of the JSON.
        given: dict[str, str] = json.loads(text) if is_cloud else {"": text}
        secrets = {
            name: Secret(fill_variables(one, settings.CONFIG_VALUES)) for name, one in given.items()
        }
    except NotGiven as exc:
        raise Invalid(
            _(
                "The key of {name} is the variable {variable}, which the operators of this server "
                "no longer list in CONFIG_ENV. Ask one, or set another key."
            ).format(name=credential.provider.name, variable=exc.name)
        ) from exc
    except DecryptionError as exc:
        raise Invalid(
            _(
                "The key of {name} cannot be read with this server's SECRET_KEY. Set it "
                "again under Team settings → Models."
            ).format(name=credential.provider.name)
        ) from exc
    return Picked(secrets=secrets) if is_cloud else Picked(secrets[""])


def check_reference(key: str) -> None:
    """Raises: Invalid for a key that refers to more than a variable, or to one not listed."""
    if next(references_in(key), None) is None:
        return
    if not VARIABLE.fullmatch(key):
        raise Invalid(
            _(
                "Give the key itself, or {env:NAME} alone for a variable that the operators of "
                "this server have listed. A key cannot come from a file."
            )
        )
    try:
        fill_variables(key, settings.CONFIG_VALUES)
    except NotGiven as exc:
        raise Invalid(
            _(
                "The operators of this server have not listed {variable} in CONFIG_ENV. Ask one, "
                "or give the key itself; it is stored encrypted."
            ).format(variable=exc.name)
        ) from exc


def mask(last4: str) -> str:
    """What a person sees of a key."""
    return f"•••• {last4}" if last4 else "••••"
