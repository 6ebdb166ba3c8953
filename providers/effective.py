"""What a team can use: the catalog, its rows, and opencode.json settings laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from django.utils.translation import gettext

from opencode_web.lib.json import JsonObject, JsonValue
from providers.account_settings import account_settings, kind_settings
from providers.accounts import NO_ACCOUNTS, Accounts, accounts_at, accounts_by_provider
from providers.allowed_models import allow_lists, only_allowed
from providers.catalog import (
    COMPATIBLE_NPM,
    SCRIPTED_NPM,
    Model,
    Provider,
    build_models,
    catalog_models,
    kind_of_npm,
    known_provider,
    merge,
    npm_of,
)
from providers.clouds import missing_settings
from providers.config import (
    OptionsConfig,
    ProviderBlock,
    is_switched_off,
    named_models,
    parse_blocks,
)
from providers.kinds import ProviderKind
from providers.llm import has_adapter
from providers.llm.options import SHARED_OPTIONS
from providers.llm.sign_in.openai import plan_models
from providers.models import Credential, ProviderConfig
from providers.offers import is_listed, is_offered
from providers.testing import MODELS as SCRIPTED_MODELS
from teams.models import Team, User

# Servers of one's own often want none.
_KEYLESS = frozenset({COMPATIBLE_NPM, SCRIPTED_NPM})
SCRIPTED_COST: JsonObject = {"input": 0, "output": 0}
SCRIPTED_LIMIT: JsonObject = {"context": 200_000, "output": 32_000}


def effective_providers(
    team: Team, config: Mapping[str, JsonValue] | None = None, *, user: User | None = None
) -> dict[str, Provider]:
    """Merge everything that a team, the instance and `user` have set up.

    `config` is settings in the shape of opencode.json, by default the team's own.

    Returns: provider id -> provider, by name; only enabled ones that have a model. No keys.
    Raises: Invalid when the settings' provider block is malformed.
    """
    config = team.config if config is None else config
    blocks = parse_blocks(config)
    rows = accounts_by_provider(team, user, configured=blocks)
    lists = allow_lists(team, config)
    built = (
        build_provider(
            key, accounts=rows.get(key, NO_ACCOUNTS), block=blocks.get(key), config=config
        )
        for key in rows.keys() | blocks.keys()
    )
    found = [provider for one in built if (provider := only_allowed(one, lists))]
    return {one.id: one for one in sorted(found, key=lambda one: (one.name.lower(), one.id))}


def effective_provider(
    team: Team, provider_id: str, config: Mapping[str, JsonValue], *, user: User | None = None
) -> Provider | None:
    """Returns: one of `effective_providers`, at a fraction of the cost of all."""
    block = parse_blocks(config).get(provider_id)
    accounts = accounts_at(team, user, provider_id, is_configured=block is not None)
    provider = build_provider(provider_id, accounts=accounts, block=block, config=config)
    return only_allowed(provider, allow_lists(team, config))


def build_provider(
    provider_id: str,
    *,
    accounts: Accounts,
    block: ProviderBlock | None,
    config: Mapping[str, JsonValue],
) -> Provider | None:
    """Merge what is set up for one provider. A turn needs one, and all of them cost a lot more.

    Returns: None when it is not set up at all, is switched off or has no model.
    """
    rows = accounts.ordered()
    if is_switched_off(config, provider_id) or accounts.is_off or not (rows or block):
        return None
    block = block or ProviderBlock()
    named = named_models(config, provider_id)
    if not rows:
        provider = _from_block(provider_id, block, named)
    else:
        said = [(row, block_for(row, block)) for row in rows]
        row, counted = next((pair for pair in said if _is_complete(*pair)), said[0])
        provider = _only_picked(_from_row(row, counted, named), accounts)
    return provider if provider.models else None


def _is_complete(row: ProviderConfig, block: ProviderBlock) -> bool:
    """Whether it can be called: it has an address, and a credential where it takes one."""
    npm, base_url = _wire_of(row, block)
    lacks = needs_key(npm) and not _has_credential(row)
    account = account_settings(row.provider_id, npm)
    return not lacks and not missing_settings(account, connection_of(row, block.options), base_url)


def _has_credential(row: ProviderConfig) -> bool:
    credential = row.credential
    return credential is not None and not credential.fault


def _only_picked(provider: Provider, accounts: Accounts) -> Provider:
    """Leave what the team's admins have picked, whoever's account it is."""
    team = accounts.team
    if team is None or not team.picked or provider.account is team:
        return provider
    kept = {key: model for key, model in provider.models.items() if key in team.picked}
    return replace(provider, models=kept)


def needs_key(npm: str) -> bool:
    """Whether providers of this SDK package answer only to a credential."""
    return npm not in _KEYLESS


def row_needs_key(row: ProviderConfig) -> bool:
    """The same of a row, whether it has a credential or not."""
    return needs_key(npm_of(row.provider_id, ProviderKind(row.kind)))


def connection_of(row: ProviderConfig | None, options: OptionsConfig) -> dict[str, str]:
    """Returns: where an account is, as adapters read it: the settings' word before the row's.

    A team's settings say nothing of an account that is not the team's: they could send a credential
    of the instance or of a person to a place of the team's choice.
    """
    if row is None:
        return options.connection()
    return {**row.connection, **(options.connection() if row.team_id else {})}


def settings_place(row: ProviderConfig) -> tuple[str, ...]:
    """Returns: the settings of a row's account that the team's JSON has, whose word counts."""
    block = parse_blocks(row.config).get(row.provider_id, ProviderBlock())
    cloud = kind_settings(row.provider_id, ProviderKind(row.kind))
    return tuple(cloud.kept(block.options.connection())) if cloud else ()


def row_missing(row: ProviderConfig, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Returns: the settings of a row's account that neither it nor `config` has.

    Raises: Invalid when the settings' provider block is malformed.
    """
    block = parse_blocks(config).get(row.provider_id, ProviderBlock())
    account = kind_settings(row.provider_id, ProviderKind(row.kind))
    return missing_settings(account, connection_of(row, block.options), row.base_url)


def block_for(row: ProviderConfig, block: ProviderBlock) -> ProviderBlock:
    """Returns: what counts of a team's settings for an account, which may not be the team's."""
    return block if row.team_id else block.for_others(row.picked)


def options_for(row: ProviderConfig | None, options: OptionsConfig) -> OptionsConfig:
    """Returns: the same of the options alone."""
    return options if row is None or row.team_id else options.for_others()


def keyless_providers(providers: Iterable[Provider]) -> set[str]:
    """Returns: the ids of those that cannot answer: a credential or a setting is missing."""
    return {
        one.id
        for one in providers
        if one.missing or (needs_key(one.npm) and not one.has_credential)
    }


def used_names(row: ProviderConfig) -> dict[str, str]:
    """Returns: id -> name of the models that the team uses of a row, whether enabled or not."""
    return {key: model.name for key, model in used_models(row).items()}


def used_models(row: ProviderConfig) -> Mapping[str, Model]:
    """Returns: the same models; what only the team's settings say of them is left out."""
    named = named_models(row.config, row.provider_id)
    return _from_row(row, ProviderBlock(), named).models


def offered_models(row: ProviderConfig) -> dict[str, Model]:
    """Returns: every model that could be picked for a row, and what is picked or named already."""
    npm = npm_of(row.provider_id, ProviderKind(row.kind))
    catalog, picked = _described_for(row), _objects(row.picked)
    in_use = picked.keys() | named_models(row.config, row.provider_id)
    described = {
        key: _laid_over(catalog.get(key), picked.get(key))
        for key in [*catalog, *(key for key in picked if key not in catalog)]
        if key in in_use or is_listed(key, catalog[key])
    }
    return build_models(row.provider_id, described, npm=npm, base_url=row.base_url)


def described_models(
    provider_id: str,
    row: ProviderConfig | None,
    picked: Mapping[str, JsonValue],
    block: ProviderBlock,
) -> dict[str, Model]:
    """Returns: all models of a provider, in use or not, with what is picked of an account."""
    known = known_provider(provider_id)
    npm = npm_of(provider_id, ProviderKind(row.kind)) if row else known.npm if known else ""
    described = {**catalog_models(provider_id), **(_described_for(row) if row else {})}
    for overs in (_objects(picked), block.descriptions()):
        described |= {key: _laid_over(described.get(key), one) for key, one in overs.items()}
    return build_models(provider_id, described, npm=npm, base_url=row.base_url if row else "")


def _from_row(row: ProviderConfig, block: ProviderBlock, named: frozenset[str]) -> Provider:
    kind = ProviderKind(row.kind)
    known = known_provider(row.provider_id)
    npm, base_url = _wire_of(row, block)
    catalog = _described_for(row)
    picked = _objects(row.picked)
    chosen = {key: _laid_over(catalog.get(key), over) for key, over in picked.items()}
    if not picked:
        chosen = _offered(catalog, named)
    source = "custom" if kind is ProviderKind.SCRIPTED else "api"
    return Provider(
        id=row.provider_id,
        name=block.name or row.shown_name,
        kind=kind,
        npm=npm,
        base_url=base_url,
        source=source,
        env=known.env if known else (),
        options=_public_options(block),
        models=_build(
            row.provider_id, chosen, block, npm=npm, base_url=base_url, is_bound=not base_url
        ),
        missing=missing_settings(
            account_settings(row.provider_id, npm), connection_of(row, block.options), base_url
        ),
        has_credential=_has_credential(row),
        account=row,
    )


def _wire_of(row: ProviderConfig, block: ProviderBlock) -> tuple[str, str]:
    """Returns: the SDK package that a row is called by, and its address.

    The row's address alone decides where its key goes; a block's baseURL is not looked at, and
    where the address is its adapter's, the block cannot choose another adapter.
    """
    known = known_provider(row.provider_id)
    # Of a template only what the row has counts: settings could send its key elsewhere.
    base_url = row.base_url or (known.address(row.connection) if known else "")
    npm = npm_of(row.provider_id, ProviderKind(row.kind))
    return (_npm_of(block, npm) if base_url else npm), base_url


def _described_for(row: ProviderConfig) -> dict[str, JsonObject]:
    """What the account's own list of models leaves of the catalog, and adds to it."""
    catalog = _described(row.provider_id, ProviderKind(row.kind))
    credential = row.credential
    is_signed_in = credential is not None and credential.kind == Credential.Kind.OAUTH
    if is_signed_in and row.provider_id == "openai":
        catalog = plan_models(catalog)
    listed = _objects(row.listed)
    return {key: merge(catalog.get(key, {}), one) for key, one in listed.items()} or catalog


def _from_block(provider_id: str, block: ProviderBlock, named: frozenset[str]) -> Provider:
    known = known_provider(provider_id)
    npm = _npm_of(block, known.npm if known else COMPATIBLE_NPM)
    kind = kind_of_npm(npm)
    base_url = block.base_url or (known.base_url if known else "")
    catalog = _described(provider_id, kind) if known else {}
    chosen = _offered(catalog, named)
    return Provider(
        id=provider_id,
        name=block.name or (known.name if known else provider_id),
        kind=kind,
        npm=npm,
        base_url=base_url,
        source="config",
        env=tuple(block.env) or (known.env if known else ()),
        options=_public_options(block),
        models=_build(provider_id, chosen, block, npm=npm, base_url=base_url),
        missing=missing_settings(
            account_settings(provider_id, npm), block.options.connection(), base_url
        ),
    )


def _npm_of(block: ProviderBlock, otherwise: str) -> str:
    """What the settings name counts, as far as this server speaks it."""
    if not block.npm:
        return otherwise
    return block.npm if has_adapter(block.npm) else COMPATIBLE_NPM


def _described(provider_id: str, kind: ProviderKind) -> dict[str, JsonObject]:
    if kind is ProviderKind.SCRIPTED:
        return {
            key: {
                "name": gettext(name),
                "reasoning": False,
                "limit": SCRIPTED_LIMIT,
                "cost": SCRIPTED_COST,
            }
            for key, name in SCRIPTED_MODELS.items()
        }
    return catalog_models(provider_id)


def _offered(catalog: dict[str, JsonObject], named: frozenset[str]) -> dict[str, JsonObject]:
    """What the settings name is in use, whatever has become of it since."""
    return {key: value for key, value in catalog.items() if key in named or is_offered(key, value)}


def _build(
    provider_id: str,
    chosen: dict[str, JsonObject],
    block: ProviderBlock,
    *,
    npm: str,
    base_url: str,
    is_bound: bool = False,
) -> dict[str, Model]:
    """`is_bound`: no model that the block describes is called by another adapter."""
    described = dict(chosen)
    for key, over in block.descriptions().items():
        if is_bound:
            over.pop("provider", None)
        described[key] = merge(described.get(key) or catalog_models(provider_id).get(key, {}), over)
    kept = {key: value for key, value in sorted(described.items()) if block.keeps(key)}
    return build_models(provider_id, kept, npm=npm, base_url=base_url)


def _laid_over(known: JsonObject | None, over: JsonObject | None) -> JsonObject:
    """The description itself where nothing changes it, so that its model need not be made anew."""
    return merge(known, over) if known and over else known or over or {}


def _public_options(block: ProviderBlock) -> JsonObject:
    """Request options for every model of the provider; nothing of the connection."""
    options = block.options.model_dump(exclude_none=True, exclude_unset=True)
    return {key: value for key, value in options.items() if key in SHARED_OPTIONS}


def _objects(value: Mapping[str, JsonValue]) -> dict[str, JsonObject]:
    return {key: item for key, item in value.items() if isinstance(item, dict)}
