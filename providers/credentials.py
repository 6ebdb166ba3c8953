"""Keys of providers at rest. A key goes in here and comes out only for a call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

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
from providers.account_model import AccountModel
from providers.clouds import KEY_FILE, PROFILE
from providers.grants import open_grant, seal_grant
from providers.health import Fault, Part, faults_of
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant
from providers.llm.sign_in.clouds import read_key_file
from providers.llm.sign_in.errors import SignInError
from providers.models import Credential, ProviderConfig
from teams.models import User

MAX_KEY_CHARS = 4_096
# Of a shorter key, four characters would give too much away.
MIN_CHARS_FOR_LAST4 = 12
# What a replaced credential no longer says.
_FRESH: Mapping[str, Any] = MappingProxyType(
    {
        "account": "",
        "expires_at": None,
        "fault": "",
        "refreshing_until": None,
        "failures": 0,
        "failure": "",
        "failed_by": "",
        "open_until": None,
    }
)
_NEVER = datetime.min.replace(tzinfo=UTC)


def put_key(row: ProviderConfig, key: str, *, actor: User | None) -> Credential:
    """Store or replace the key of an account. Must run inside an action's transaction.

    A reference to a variable is stored as it is, so that the key is always what that has.

    Raises: Invalid when it cannot be a key, or refers to what operators have not listed.
    """
    return _put(row, actor=actor, **_key_fields(key))


def add_key(row: ProviderConfig, key: str, *, label: str, actor: User | None) -> Credential:
    """Store one more key beside those that an account has. Must run inside an action's transaction.

    Raises: as `put_key`.
    """
    fields = _key_fields(key)
    return Credential.objects.create(provider=row, label=label, created_by=actor, **fields)


def _key_fields(key: str) -> dict[str, Any]:
    key = key.strip()
    _check_text(key)
    has_last4 = len(key) >= MIN_CHARS_FOR_LAST4 and not VARIABLE.fullmatch(key)
    return {
        "kind": Credential.Kind.KEY,
        "secret": encrypt(key),
        "last4": key[-4:] if has_last4 else "",
    }


def _put(row: ProviderConfig, *, actor: User | None, **fields: Any) -> Credential:
    """Replace the newest credential of an account, which is its only one in most cases."""
    before = row.credentials.order_by("pk").last()
    given = {**_FRESH, **fields}
    credential = before or Credential(provider=row)
    for name, value in given.items():
        setattr(credential, name, value)
    credential.created_by = actor
    credential.rotated_at = timezone.now() if before else None
    credential.save()
    # What a test has found was about the earlier one.
    ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="")
    forget_prefetched(row)
    return credential


def forget_prefetched(row: ProviderConfig) -> None:
    """Have the credentials of a row read again, as the caller's may be the earlier ones."""
    getattr(row, "_prefetched_objects_cache", {}).pop("credentials", None)


def _check_text(key: str) -> None:
    check_reference(key)
    if not key or not is_secret_text(key, max_chars=MAX_KEY_CHARS):
        raise Invalid(_("A key must be printable text without line breaks."))


@dataclass(frozen=True, slots=True)
class Picked:
    """What a call proves itself with; false when there is nothing.

    A key, a token that somebody has signed in for, or what a cloud account wants in place of one.
    """

    key: Secret = field(default_factory=lambda: Secret(""))
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    credential_id: int | None = None
    expires_at: datetime | None = None
    # Of a sign-in: where its tokens are good for.
    connection: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    faults: tuple[Fault, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.key or self.secrets)


def put_cloud_keys(row: ProviderConfig, keys: Mapping[str, str], *, actor: User | None) -> None:
    """Store or replace the keys of a cloud account. Must run inside an action's transaction."""
    secret = encrypt(json.dumps(dict(keys)))
    _put(row, actor=actor, kind=Credential.Kind.CLOUD, secret=secret, last4="")


def put_account(
    row: ProviderConfig, *, key: str, secrets: Mapping[str, str], actor: User | None
) -> bool:
    """Store what is given of a key or of the secrets of a cloud account, in place of all before.

    Must run inside an action's transaction.

    Returns: whether anything was given.
    Raises: Invalid when one of them cannot be a secret.
    """
    given = {name: value.strip() for name, value in secrets.items() if value.strip()}
    if PROFILE in given and not row.is_of_instance:
        raise Invalid(_("Only operators can use the AWS profiles of this server."))
    if KEY_FILE in given:
        given[KEY_FILE] = _checked_key_file(given[KEY_FILE])
    for value in given.values():
        _check_text(value)
    if key:
        put_key(row, key, actor=actor)
    elif given:
        put_cloud_keys(row, given, actor=actor)
    return bool(key or given)


def _checked_key_file(text: str) -> str:
    """Returns: what is needed of a key file of Google, in one line."""
    if VARIABLE.fullmatch(text):
        return text
    try:
        return json.dumps(read_key_file(text))
    except SignInError as exc:
        raise Invalid(_(exc.message), field=KEY_FILE) from exc


def pick_credential(row: ProviderConfig | None) -> Picked:
    """Returns: the credential of an account, of several the one that was used least lately.

    Raises: Invalid when it was encrypted under a key that this server no longer has, or refers to
    a variable that operators no longer list.
    """
    keys = usable_keys(row) if row else []
    if row is None or not keys:
        return Picked()
    return open_credential(least_used(keys), name=row.name)


def usable_keys(row: ProviderConfig) -> list[Credential]:
    """Returns: the keys of an account that take turns, without those that are left alone now.

    When all of them are, the one whose rest is over first.
    """
    keys, now = row.keys, timezone.now()
    awake = [key for key in keys if key.open_until is None or key.open_until <= now]
    return awake or sorted(keys, key=lambda key: (key.open_until or _NEVER, key.pk))[:1]


def least_used(keys: Iterable[Credential]) -> Credential:
    """Returns: the one that was chosen least lately."""
    return min(keys, key=lambda key: (key.used_at or _NEVER, key.pk))


def with_credential(model: AccountModel, picked: Picked) -> AccountModel:
    """Returns: the model as it is called with another credential of its account."""
    kept = tuple(fault for fault in model.faults if fault.part is not Part.KEY)
    return replace(
        model,
        api_key=picked.key,
        secrets=picked.secrets,
        base_url=picked.base_url or model.base_url,
        connection={**model.connection, **picked.connection},
        credential_id=picked.credential_id,
        fresh_until=picked.expires_at,
        faults=(*kept, *picked.faults),
    )


def open_credential(credential: Credential, *, name: str) -> Picked:
    """Returns: what is in a credential of the account `name`. Raises: as `pick_credential`."""
    try:
        picked = _opened(credential)
    except NotGiven as exc:
        raise Invalid(
            _(
                "The key of {name} comes from the variable {variable}, which is no longer listed "
                "in CONFIG_ENV. Ask an operator, or enter another key."
            ).format(name=name, variable=exc.name)
        ) from exc
    except DecryptionError as exc:
        raise Invalid(
            _(
                "The key of {name} cannot be read with this server's SECRET_KEY. Enter it again "
                "under Team settings → Models."
            ).format(name=name)
        ) from exc
    return replace(
        picked,
        credential_id=credential.pk,
        faults=faults_of(Part.KEY, credential),
    )


def _opened(credential: Credential) -> Picked:
    """Raises: DecryptionError; NotGiven."""
    if credential.kind == Credential.Kind.OAUTH:
        return picked_of(open_grant(credential.secret))
    text = decrypt(credential.secret)
    if credential.kind == Credential.Kind.KEY:
        return Picked(_filled(text))
    # Each by itself: the value of a variable must not end the text of the JSON.
    return Picked(secrets={key: _filled(value) for key, value in json.loads(text).items()})


def _filled(text: str) -> Secret:
    return Secret(fill_variables(text, settings.CONFIG_VALUES))


def picked_of(grant: Grant) -> Picked:
    """Returns: what a call makes of a grant."""
    return Picked(
        grant.api_key,
        grant.secrets,
        expires_at=grant.expires_at,
        connection=grant.connection,
        base_url=grant.base_url,
    )


def put_grant(row: ProviderConfig, grant: Grant, *, actor: User | None) -> Credential:
    """Store what a sign-in has ended in, in place of the newest credential of an account.

    Must run inside an action's transaction.
    """
    return _put(row, actor=actor, **_grant_fields(grant))


def renew_grant(credential: Credential, grant: Grant) -> None:
    """Store a grant that was refreshed. Must run inside an action's transaction."""
    fields = {**_grant_fields(grant), "fault": "", "refreshing_until": None}
    Credential.objects.filter(pk=credential.pk).update(**fields)


def _grant_fields(grant: Grant) -> dict[str, Any]:
    return {
        "kind": Credential.Kind.OAUTH,
        "secret": seal_grant(grant),
        "last4": "",
        "account": grant.account[:200],
        "expires_at": grant.expires_at,
    }


def check_reference(key: str) -> None:
    """Raises: Invalid for a key that refers to more than a variable, or to one not listed."""
    if next(references_in(key), None) is None:
        return
    if not VARIABLE.fullmatch(key):
        raise Invalid(
            _(
                "Enter the key itself, or {env:NAME} alone for a variable that this server's "
                "operators have listed. A key cannot come from a file."
            )
        )
    try:
        fill_variables(key, settings.CONFIG_VALUES)
    except NotGiven as exc:
        raise Invalid(
            _(
                "The variable {variable} is not listed in this server's CONFIG_ENV. Ask an "
                "operator, or enter the key itself; it is stored encrypted."
            ).format(variable=exc.name)
        ) from exc


def mask(last4: str) -> str:
    """What a person sees of a key."""
    return f"•••• {last4}" if last4 else "••••"
