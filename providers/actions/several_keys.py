"""Give an account further keys, name and limit each, and take one away."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from providers.actions.keys import check_takes_keys
from providers.actions.rows import forget_test, lock_provider
from providers.credentials import add_key as store_key
from providers.credentials import forget_prefetched
from providers.models import Credential, ProviderConfig
from teams.audit import AuditAction, record
from teams.models import User

MAX_KEYS = 20
MAX_LABEL_CHARS = 100
_MAX = 2**31 - 1


@transaction.atomic
def add_key(
    row: ProviderConfig,
    *,
    actor: User | None,
    key: str,
    label: str = "",
    base_url: str | None = None,
    ip: str | None = None,
) -> Credential:
    """Store one more key, which takes turns with the others of the account.

    `base_url` is the address that the key was given for, if not that of `row`.

    Raises: Invalid when it cannot be a key, or there are too many; Conflict when the host has
    changed since; NotFound.
    """
    locked = lock_provider(row)
    check_takes_keys(row, locked, base_url=base_url)
    if locked.credentials.count() >= MAX_KEYS:
        raise Invalid(_("A provider can have at most %(count)s keys.") % {"count": MAX_KEYS})
    newest = locked.credential
    if newest is not None and newest.kind != Credential.Kind.KEY:
        raise Invalid(_("Only keys can take turns. This account is signed in to in another way."))
    credential = store_key(locked, key, label=_clean(label), actor=actor)
    forget_prefetched(row)
    _record(row, actor, credential, "added", ip=ip)
    return credential


@transaction.atomic
def change_key(
    row: ProviderConfig,
    key_id: int,
    *,
    actor: User | None,
    label: str | None = None,
    max_calls: int | None = None,
    tokens_per_minute: int | None = None,
    ip: str | None = None,
) -> Credential:
    """Name a key, and say how much it may be used for at once and in a minute; None is no limit.

    Without `label` it keeps its name.

    Raises: Invalid for a limit that is none; NotFound.
    """
    for limit in (max_calls, tokens_per_minute):
        if limit is not None and not 0 < limit <= _MAX:
            raise Invalid(_("A limit must be a whole number above 0."))
    credential = _locked(row, key_id)
    if label is not None:
        credential.label = _clean(label)
    credential.max_calls, credential.tokens_per_minute = max_calls, tokens_per_minute
    credential.save(update_fields=["label", "max_calls", "tokens_per_minute"])
    forget_prefetched(row)
    limits: JsonObject = {"max_calls": max_calls, "tokens_per_minute": tokens_per_minute}
    _record(row, actor, credential, "changed", ip=ip, limits=limits)
    return credential


@transaction.atomic
def remove_one_key(
    row: ProviderConfig, key_id: int, *, actor: User | None, ip: str | None = None
) -> None:
    """Forget one of an account's keys. Raises: NotFound."""
    credential = _locked(row, key_id)
    _record(row, actor, credential, "removed", ip=ip)
    credential.delete()
    forget_test(row)
    forget_prefetched(row)


def _locked(row: ProviderConfig, key_id: int) -> Credential:
    credential = lock_provider(row).credentials.filter(pk=key_id).first()
    if credential is None:
        raise NotFound("Key", str(key_id))
    return credential


def _clean(label: str) -> str:
    return " ".join(label.split())[:MAX_LABEL_CHARS]


def _record(
    row: ProviderConfig,
    actor: User | None,
    credential: Credential,
    what: str,
    *,
    ip: str | None,
    limits: JsonObject | None = None,
) -> None:
    data: JsonObject = {
        "provider": row.provider_id,
        "key": what,
        "last4": credential.last4,
        "label": credential.label,
        **(limits or {}),
    }
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
