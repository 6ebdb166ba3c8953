"""Set, take over, test and remove keys."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from providers.account_settings import kind_settings, named_for
from providers.actions.accounts import (
    checked_address,
    create_provider,
    delete_provider,
    origin_of,
    update_provider,
)
from providers.actions.rows import (
    account_place,
    forget_moved_keys,
    forget_test,
    lock_provider,
)
from providers.catalog import kind_of_npm, known_provider
from providers.clouds import checked_connection
from providers.config import SECRET_OPTIONS, ProviderBlock, parse_blocks
from providers.credentials import add_key as store_key
from providers.credentials import (
    check_reference,
    forget_prefetched,
    put_cloud_keys,
    put_key,
)
from providers.kinds import ProviderKind
from providers.llm.errors import ProviderError
from providers.models import Credential, ProviderConfig
from teams.audit import AuditAction, record
from teams.models import Team, User

_SECRET = frozenset({"apiKey", *SECRET_OPTIONS})


@transaction.atomic
def set_key(
    row: ProviderConfig,
    *,
    actor: User | None,
    key: str,
    base_url: str | None = None,
    ip: str | None = None,
) -> Credential:
    """Set or replace a provider's key.

    `base_url` is the address that the key was given for, if not that of `row`.

    Raises: Invalid when it cannot be a key; Conflict when the host has changed since; NotFound.
    """
    locked = _lock_as_seen(row, base_url)
    credential = put_key(locked, key, actor=actor)
    # The caller goes on with its own row.
    forget_prefetched(row)
    what = "rotated" if credential.rotated_at else "set"
    data: JsonObject = {"provider": row.provider_id, "key": what, "last4": credential.last4}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return credential


@transaction.atomic
def add_key(
    row: ProviderConfig,
    *,
    actor: User,
    key: str,
    label: str = "",
    base_url: str | None = None,
    ip: str | None = None,
) -> Credential:
    """Give an account one more key; calls are spread over all of them.

    Raises: as `set_key`; Conflict for a cloud account and one that is signed in to.
    """
    locked = _lock_as_seen(row, base_url)
    if Credential.objects.filter(provider=locked).exclude(kind=Credential.Kind.KEY).exists():
        raise Conflict(_("Only an account with an API key can have several keys."))
    credential = store_key(locked, key, label=label, actor=actor)
    forget_prefetched(row)
    data: JsonObject = {"provider": row.provider_id, "key": "added", "last4": credential.last4}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return credential


def _lock_as_seen(row: ProviderConfig, base_url: str | None) -> ProviderConfig:
    """The row as it is now. Raises: Invalid for the demo; Conflict when it has moved; NotFound."""
    if row.kind == ProviderKind.SCRIPTED:
        raise Invalid(_("The scripted demo does not need a key."))
    seen = row.base_url if base_url is None else base_url
    locked = lock_provider(row)
    if (origin_of(locked.base_url), locked.connection) != (origin_of(seen), row.connection):
        raise Conflict(
            _("The address of %(name)s has changed. Check it, then enter the key again.")
            % {"name": locked.name}
        )
    return locked


@transaction.atomic
def set_key_of(
    team: Team,
    provider_id: str,
    *,
    key: str,
    actor: User | None,
    connection: Mapping[str, str] = MappingProxyType({}),
    ip: str | None = None,
) -> None:
    """Set a team's key of a provider by its id, which is set up where the catalog knows it.

    `connection` says where an account is, at providers that ask for that, by the names of what a
    sign-in asks.

    Raises: Invalid when it cannot be a key, or nobody knows the provider's address.
    """
    block = parse_blocks(team.config).get(provider_id)
    row = ProviderConfig.objects.filter(team=team, provider_id=provider_id).first()
    if row is None and block is None and known_provider(provider_id) is None:
        raise Invalid(
            f"The provider {provider_id[:100]} is not known here. Give its address with "
            f"provider.{provider_id[:100]}.options.baseURL in the settings, or under Settings → "
            "Models."
        )
    given = block or ProviderBlock()
    _store_key(team, provider_id, given, key=key, connection=connection, actor=actor, ip=ip)


@transaction.atomic
def set_own_key(
    user: User,
    provider_id: str,
    *,
    key: str,
    connection: Mapping[str, str] = MappingProxyType({}),
    ip: str | None = None,
) -> None:
    """Set a person's own key of a provider of the catalog.

    Raises: Invalid when it cannot be a key, or the provider cannot be a person's own.
    """
    row = ProviderConfig.objects.filter(owner=user, provider_id=provider_id).first()
    if row is not None and not connection:
        set_key(row, actor=user, key=key, ip=ip)
        return
    if row is not None:
        delete_provider(row, actor=user, ip=ip)
    known = known_provider(provider_id)
    kind = known.kind if known else ProviderKind.COMPATIBLE
    create_provider(
        user,
        actor=user,
        kind=kind,
        name=known.name if known else provider_id,
        provider_id=provider_id,
        base_url=known.base_url if known else "",
        key=key,
        connection=named_for(provider_id, kind, connection),
        ip=ip,
    )


@transaction.atomic
def remove_key(row: ProviderConfig, *, actor: User | None, ip: str | None = None) -> None:
    """Forget a provider's key. Without one nothing changes."""
    removed = Credential.objects.filter(provider=row).delete()[0]
    if removed:
        forget_test(row)
        data: JsonObject = {"provider": row.provider_id, "key": "removed"}
        record(
            AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip
        )


@transaction.atomic
def remove_credential(credential: Credential, *, actor: User | None, ip: str | None = None) -> None:
    """Forget one credential of an account; others that it has stay."""
    row = credential.provider
    if Credential.objects.filter(pk=credential.pk).delete()[0]:
        forget_prefetched(row)
        forget_test(row)
        data: JsonObject = {"provider": row.provider_id, "key": "removed"}
        record(
            AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip
        )


@transaction.atomic
def rename_credential(
    credential: Credential, *, label: str, actor: User | None, ip: str | None = None
) -> None:
    """Give a credential another name."""
    Credential.objects.filter(pk=credential.pk).update(label=label.strip()[:100])
    row = credential.provider
    data: JsonObject = {"provider": row.provider_id, "key": "renamed"}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)


@transaction.atomic
def record_test(
    row: ProviderConfig, *, actor: User, error: ProviderError | None, ip: str | None = None
) -> None:
    """Write down that somebody made a test call, and how it ended.

    `row` is what was tested: nothing is kept of a key or address that was replaced since.
    """
    outcome = type(error).__name__ if error else "ok"
    locked = lock_provider(row)
    now, then = ((one.base_url, one.connection, _sealed(one)) for one in (locked, row))
    if now == then:
        locked.tested_at, locked.test_fault = timezone.now(), outcome if error else ""
        locked.save(update_fields=["tested_at", "test_fault"])
    data: JsonObject = {"provider": row.provider_id, "outcome": outcome}
    record(AuditAction.PROVIDER_TESTED, actor=actor, team=row.team, target=row, data=data, ip=ip)


@transaction.atomic
def absorb_keys(
    team: Team, config: Mapping[str, JsonValue], *, actor: User | None, ip: str | None = None
) -> JsonObject:
    """Take the keys out of settings that are about to be stored, and keep them as credentials.

    A provider that the settings bring a key for becomes a row of the team, with the address that
    the same block names, because a key is bound to its address.

    Returns: the settings without any key, to be stored and shown.
    Raises: Invalid for a malformed block, a reference that may not be resolved, or an
    unusable address.
    """
    for provider_id, block in parse_blocks(config).items():
        if block.base_url:
            checked_address(block.base_url)
        key, cloud = block.options.apiKey or "", block.options.secrets()
        try:
            check_reference(key)
        except Invalid as exc:
            raise Invalid(f"provider.{provider_id}.options.apiKey: {exc.message}") from exc
        if key or cloud:
            _store_key(team, provider_id, block, key=key, cloud=cloud, actor=actor, ip=ip)
    return _without_keys(config)


def _store_key(
    team: Team,
    provider_id: str,
    block: ProviderBlock,
    *,
    key: str,
    actor: User | None,
    ip: str | None,
    cloud: Mapping[str, str] | None = None,
    connection: Mapping[str, str] = MappingProxyType({}),
) -> None:
    row = ProviderConfig.objects.filter(team=team, provider_id=provider_id).first()
    if row is None:
        known = known_provider(provider_id)
        kind = known.kind if known and not block.npm else kind_of_npm(block.npm or "")
        row = create_provider(
            team,
            actor=actor,
            kind=kind,
            name=block.name or (known.name if known else provider_id),
            provider_id=provider_id,
            base_url=block.base_url or (known.base_url if known else ""),
            key=key,
            connection=named_for(provider_id, kind, connection),
            ip=ip,
        )
    else:
        if named := named_for(provider_id, ProviderKind(row.kind), connection):
            row = lock_provider(row)
            before = account_place(row)
            connection = {**row.connection, **named}
            account = kind_settings(provider_id, ProviderKind(row.kind))
            row.connection = checked_connection(account, connection, key=key, secrets={})
            row.save(update_fields=["connection"])
            forget_moved_keys(row, before=before)
        if block.base_url and checked_address(block.base_url) != row.base_url:
            row = update_provider(row, actor=actor, base_url=block.base_url, ip=ip)
        if key:
            set_key(row, actor=actor, key=key, ip=ip)
    if cloud and not key:
        put_cloud_keys(row, cloud, actor=actor)
        data: JsonObject = {"provider": row.provider_id, "key": "set", "names": [*sorted(cloud)]}
        record(AuditAction.PROVIDER_UPDATED, actor=actor, team=team, target=row, data=data, ip=ip)


def _without_keys(config: Mapping[str, JsonValue]) -> JsonObject:
    clean = dict(config)
    blocks = config.get("provider")
    if not isinstance(blocks, dict):
        return clean
    kept: JsonObject = {}
    for provider_id, block in blocks.items():
        options = block.get("options") if isinstance(block, dict) else None
        if isinstance(block, dict) and isinstance(options, dict):
            rest = {key: value for key, value in options.items() if key not in _SECRET}
            kept[provider_id] = {**block, "options": rest}
        else:
            kept[provider_id] = block
    return {**clean, "provider": kept}


def _sealed(row: ProviderConfig) -> str:
    return row.credential.secret if row.credential else ""
