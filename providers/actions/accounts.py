"""Set up accounts at providers, change and delete them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import slug_of
from providers.account_settings import account_settings
from providers.actions.models import forget_bounds
from providers.actions.rows import forget_test, fresh_row, lock_provider
from providers.addresses import check_base_url
from providers.catalog import COMPATIBLE_NPM, known_provider, npm_of
from providers.clouds import checked_connection
from providers.credentials import put_account
from providers.kinds import ProviderKind
from providers.models import Credential, ProviderConfig
from providers.price_check import check_prices
from providers.testing import PROVIDER_ID, PROVIDER_NAME
from teams.audit import AuditAction, record
from teams.models import Team, User

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@transaction.atomic
def create_provider(
    holder: Team | User | None,
    *,
    actor: User | None,
    kind: ProviderKind,
    name: str,
    provider_id: str = "",
    base_url: str = "",
    key: str = "",
    connection: Mapping[str, str] = MappingProxyType({}),
    secrets: Mapping[str, str] = MappingProxyType({}),
    ip: str | None = None,
) -> ProviderConfig:
    """Add an account, with its key or the secrets of its cloud account when given.

    `holder` is whose it becomes; None is the instance. Without `provider_id` one is made from the
    name.

    Raises: Invalid for an unusable id, address, connection or key, and for a person's account at an
    address of their own; Conflict when there is one of this id.
    """
    team = holder if isinstance(holder, Team) else None
    owner = holder if isinstance(holder, User) else None
    if owner is not None:
        _check_own(provider_id, base_url)
    npm = npm_of(provider_id, kind)
    account = account_settings(provider_id, npm)
    if npm == COMPATIBLE_NPM and not base_url and account is None:
        raise Invalid(_("An OpenAI-compatible provider needs a base URL."))
    row = ProviderConfig(
        team=team,
        owner=owner,
        provider_id=_valid_id(provider_id or slug_of(name)[:60] or "provider"),
        kind=kind.value,
        name=name.strip()[:100] or provider_id,
        base_url=checked_address(base_url),
        connection=checked_connection(account, connection, key=key, secrets=secrets),
    )
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as exc:
        raise Conflict(
            _("A provider named %(provider_id)s already exists.") % {"provider_id": row.provider_id}
        ) from exc
    with_key = put_account(row, key=key, secrets=secrets, actor=actor)
    data: JsonObject = {"provider": row.provider_id, "kind": row.kind, "with_key": with_key}
    if names := [*row.connection, *(name for name in secrets if secrets[name])]:
        data["names"] = [*sorted(names)]
    record(AuditAction.PROVIDER_CREATED, actor=actor, team=team, target=row, data=data, ip=ip)
    return row


def _check_own(provider_id: str, base_url: str) -> None:
    """What a person adds sends the code of their teams to the vendor itself, and nowhere else."""
    known = known_provider(provider_id)
    account = account_settings(provider_id, known.npm) if known else None
    is_open = account is not None and account.names_host
    if known is None or is_open or base_url not in ("", known.base_url):
        raise Invalid(
            _("Choose a provider from the catalog. Only admins can add one with a custom address.")
        )


def create_demo(team: Team, *, actor: User | None, ip: str | None = None) -> ProviderConfig:
    """Give a team the scripted demo, which needs no key. Raises: Conflict when it has it."""
    return create_provider(
        team,
        actor=actor,
        kind=ProviderKind.SCRIPTED,
        # Stored untranslated: each reader sees it in their own language.
        name=PROVIDER_NAME,
        provider_id=PROVIDER_ID,
        ip=ip,
    )


@transaction.atomic
def update_provider(
    row: ProviderConfig,
    *,
    actor: User | None,
    name: str | None = None,
    base_url: str | None = None,
    enabled: bool | None = None,
    ip: str | None = None,
) -> ProviderConfig:
    """Change what is given.

    A new host in the address removes the key: whoever may change the address could otherwise have
    the key sent to a server of their own and read it there.

    Raises: Invalid for an unusable address; NotFound when somebody has deleted it.
    """
    row = lock_provider(row)
    before = _facts(row)
    if name is not None:
        row.name = name.strip()[:100] or row.name
    if base_url is not None:
        npm = npm_of(row.provider_id, ProviderKind(row.kind))
        has_address = base_url or account_settings(row.provider_id, npm)
        if npm == COMPATIBLE_NPM and not has_address:
            raise Invalid(_("An OpenAI-compatible provider needs a base URL."))
        row.base_url = checked_address(base_url)
    if enabled is not None:
        row.enabled = enabled
    row.save(update_fields=["name", "base_url", "enabled"])
    forget_bounds(row)
    after = _facts(row)
    moved = origin_of(str(before["base_url"])) != origin_of(row.base_url)
    dropped = bool(moved and Credential.objects.filter(provider=row).delete()[0])
    if moved:
        forget_test(row)
    changes: JsonObject = {k: [before[k], after[k]] for k in after if before[k] != after[k]}
    data: JsonObject = {"provider": row.provider_id, "changes": changes, "key_removed": dropped}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return fresh_row(row)


@transaction.atomic
def share_provider(
    row: ProviderConfig, *, actor: User, teams: Collection[Team] | None, ip: str | None = None
) -> ProviderConfig:
    """Say which teams may use an account of the instance; None is all of them.

    Raises: Invalid when it is not one of the instance; NotFound.
    """
    row = lock_provider(row)
    if row.team_id or row.owner_id:
        raise Invalid(_("Only accounts of this server can be shared with teams."))
    row.for_all_teams = teams is None
    row.save(update_fields=["for_all_teams"])
    row.shared_with.set(teams or ())
    shared: list[JsonValue] = [*sorted(team.slug for team in teams or ())]
    data: JsonObject = {
        "provider": row.provider_id,
        "shared_with": "all" if teams is None else shared,
    }
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=None, target=row, data=data, ip=ip)
    return row


@transaction.atomic
def delete_provider(row: ProviderConfig, *, actor: User | None, ip: str | None = None) -> None:
    """Remove a provider and its key, and what was said of the prices of its models."""
    check_prices(row, None, actor)
    data: JsonObject = {"provider": row.provider_id, "kind": row.kind}
    record(AuditAction.PROVIDER_DELETED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    forget_bounds(row)
    row.delete()


@transaction.atomic
def bind_addresses(places: Mapping[str, str]) -> None:
    """Keep accounts where they are whose address is only in the catalog: id -> address there."""
    for provider_id, place in places.items():
        rows = ProviderConfig.objects.filter(provider_id=provider_id, base_url="")
        rows.exclude(kind=ProviderKind.SCRIPTED).update(base_url=place)


def checked_address(base_url: str) -> str:
    """Raises: Invalid for an address that this server does not call."""
    if not base_url:
        return ""
    try:
        return check_base_url(base_url)
    except RefusedAddress as exc:
        raise Invalid(str(exc)) from exc


def origin_of(base_url: str) -> tuple[str, str, int | None]:
    """Returns: what a credential is bound to."""
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname or "", parts.port


def _facts(row: ProviderConfig) -> JsonObject:
    return {"name": row.name, "base_url": row.base_url, "enabled": row.enabled}


def _valid_id(provider_id: str) -> str:
    if not _ID.fullmatch(provider_id):
        raise Invalid(f"{provider_id!r} cannot be a provider's id: use letters, digits, . _ and -.")
    return provider_id
