"""Every change of a team's providers. Each function is one transaction with its audit row."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from providers.addresses import check_base_url
from providers.bounds import Factors
from providers.catalog import COMPATIBLE_NPM, kind_of_npm, known_provider, npm_of
from providers.clouds import checked_connection
from providers.config import SECRET_OPTIONS, ProviderBlock, parse_blocks
from providers.credentials import check_reference, put_account, put_cloud_keys, put_key
from providers.kinds import ProviderKind
from providers.llm.errors import ProviderError
from providers.llm.messages import ModelRef
from providers.models import Credential, LearnedBound, ProviderConfig
from providers.testing import PROVIDER_ID, PROVIDER_NAME
from teams.audit import AuditAction, record
from teams.models import Team, User

MAX_PICKED = 500
_SECRET = frozenset({"apiKey", *SECRET_OPTIONS})
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@transaction.atomic
def create_provider(
    team: Team,
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
    """Add a provider to a team, with its key or the secrets of its cloud account when given.

    Without `provider_id` one is made from the name.

    Raises: Invalid for an unusable id, address, connection or key; Conflict when the team has one
    of this id.
    """
    npm = npm_of(provider_id, kind)
    if npm == COMPATIBLE_NPM and not base_url:
        raise Invalid(_("An OpenAI-compatible provider needs its base URL."))
    row = ProviderConfig(
        team=team,
        provider_id=_valid_id(provider_id or slugify(name)[:60] or "provider"),
        kind=kind.value,
        name=name.strip()[:100] or provider_id,
        base_url=_checked(base_url),
        connection=checked_connection(npm, connection, key=key, secrets=secrets),
    )
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as exc:
        raise Conflict(
            _("This team already has a provider %(provider_id)s.")
            % {"provider_id": row.provider_id}
        ) from exc
    with_key = put_account(row, key=key, secrets=secrets, actor=actor)
    data: JsonObject = {"provider": row.provider_id, "kind": row.kind, "with_key": with_key}
    if names := [*row.connection, *(name for name in secrets if secrets[name])]:
        data["names"] = [*sorted(names)]
    record(AuditAction.PROVIDER_CREATED, actor=actor, team=team, target=row, data=data, ip=ip)
    return row


def create_demo(team: Team, *, actor: User | None, ip: str | None = None) -> ProviderConfig:
    """Give a team the scripted demo, which needs no key. Raises: Conflict when it has it."""
    return create_provider(
        team,
        actor=actor,
        kind=ProviderKind.SCRIPTED,
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
        if npm == COMPATIBLE_NPM and not base_url:
            raise Invalid(_("An OpenAI-compatible provider needs its base URL."))
        row.base_url = _checked(base_url)
    if enabled is not None:
        row.enabled = enabled
    row.save(update_fields=["name", "base_url", "enabled"])
    forget_bounds(row)
    after = _facts(row)
    moved = _origin(str(before["base_url"])) != _origin(row.base_url)
    dropped = bool(moved and Credential.objects.filter(provider=row).delete()[0])
    if moved:
        ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="")
    changes: JsonObject = {k: [before[k], after[k]] for k in after if before[k] != after[k]}
    data: JsonObject = {"provider": row.provider_id, "changes": changes, "key_removed": dropped}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    # The related object may be cached on the instance that the caller goes on with.
    return ProviderConfig.objects.select_related("credential", "team").get(pk=row.pk)


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
    if row.kind == ProviderKind.SCRIPTED:
        raise Invalid(_("The scripted demo takes no key."))
    seen = row.base_url if base_url is None else base_url
    locked = lock_provider(row)
    if (_origin(locked.base_url), locked.connection) != (_origin(seen), row.connection):
        raise Conflict(
            _("The address of %(name)s has changed. Check it, then set the key again.")
            % {"name": locked.name}
        )
    credential = put_key(locked, key, actor=actor)
    # The caller goes on with its own row.
    row.credential = credential
    what = "rotated" if credential.rotated_at else "set"
    data: JsonObject = {"provider": row.provider_id, "key": what, "last4": credential.last4}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return credential


@transaction.atomic
def set_key_of(
    team: Team, provider_id: str, *, key: str, actor: User | None, ip: str | None = None
) -> None:
    """Set a team's key of a provider by its id, which is set up where the catalog knows it.

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
    _store_key(team, provider_id, block or ProviderBlock(), key=key, actor=actor, ip=ip)


@transaction.atomic
def remove_key(row: ProviderConfig, *, actor: User | None, ip: str | None = None) -> None:
    """Forget a provider's key. Without one nothing changes."""
    removed = Credential.objects.filter(provider=row).delete()[0]
    if removed:
        ProviderConfig.objects.filter(pk=row.pk).update(tested_at=None, test_fault="")
        data: JsonObject = {"provider": row.provider_id, "key": "removed"}
        record(
            AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip
        )


@transaction.atomic
def pick_models(
    row: ProviderConfig,
    *,
    actor: User | None,
    models: Mapping[str, JsonObject],
    unpicked: Collection[str] = (),
    ip: str | None = None,
) -> ProviderConfig:
    """Add to the models that the team may use: id -> overrides; and take `unpicked` away.

    Without overrides a model keeps those that it has. None picked means all current ones.

    Raises: Invalid when an override is not in the shape of opencode.json's models.
    """
    parse_blocks({"provider": {row.provider_id: {"models": dict(models)}}})
    row = lock_provider(row)
    before = set(row.picked)
    picked = {key: value for key, value in row.picked.items() if key not in unpicked}
    picked.update({key: value or row.picked.get(key, {}) for key, value in models.items()})
    if len(picked) > MAX_PICKED:
        raise Invalid(
            _("At most %(max_picked)s models can be picked.") % {"max_picked": MAX_PICKED}
        )
    row.picked = picked
    row.save(update_fields=["picked"])
    forget_bounds(row)
    added: list[JsonValue] = [*sorted(picked.keys() - before)]
    removed: list[JsonValue] = [*sorted(before - picked.keys())]
    data: JsonObject = {"provider": row.provider_id, "picked": added, "unpicked": removed}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return row


@transaction.atomic
def delete_provider(row: ProviderConfig, *, actor: User | None, ip: str | None = None) -> None:
    """Remove a provider and its key."""
    data: JsonObject = {"provider": row.provider_id, "kind": row.kind}
    record(AuditAction.PROVIDER_DELETED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    forget_bounds(row)
    row.delete()


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
            _checked(block.base_url)
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
            ip=ip,
        )
    else:
        if block.base_url and _checked(block.base_url) != row.base_url:
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


def lock_provider(row: ProviderConfig) -> ProviderConfig:
    """The row as it is now, until the transaction ends. Raises: NotFound when it is gone."""
    rows = ProviderConfig.objects.select_for_update(of=("self",)).select_related("team")
    locked = rows.filter(pk=row.pk).first()
    if locked is None:
        raise NotFound("Provider", row.provider_id)
    return locked


def _sealed(row: ProviderConfig) -> str:
    credential: Credential | None = getattr(row, "credential", None)
    return credential.secret if credential else ""


def _facts(row: ProviderConfig) -> JsonObject:
    return {"name": row.name, "base_url": row.base_url, "enabled": row.enabled}


def _valid_id(provider_id: str) -> str:
    if not _ID.fullmatch(provider_id):
        raise Invalid(f"{provider_id!r} cannot be a provider's id: use letters, digits, . _ and -.")
    return provider_id


def _checked(base_url: str) -> str:
    if not base_url:
        return ""
    try:
        return check_base_url(base_url)
    except RefusedAddress as exc:
        raise Invalid(str(exc)) from exc


def _origin(base_url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname or "", parts.port


def forget_bounds(row: ProviderConfig) -> None:
    """What was learned holds for an address and for prices that may be others now."""
    LearnedBound.objects.filter(team=row.team_id, provider=row.provider_id).delete()


@transaction.atomic
def learn_bound(team: Team, ref: ModelRef, factors: Factors) -> None:
    """Have the next calls of a model expect what a provider has billed beyond a bound."""
    names = {"team": team, "provider": ref.provider_id, "model": ref.model_id}
    LearnedBound.objects.select_for_update().get_or_create(
        **names, defaults={"input": 1, "output": 1}
    )
    LearnedBound.objects.filter(**names).update(
        input=Greatest("input", factors.input), output=Greatest("output", factors.output)
    )
