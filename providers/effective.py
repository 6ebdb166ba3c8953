"""What a team can use: the catalog, its rows, and opencode.json settings laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import (
    COMPATIBLE_NPM,
    SCRIPTED_NPM,
    Model,
    Provider,
    build_model,
    catalog_models,
    kind_of_npm,
    known_provider,
    merge,
    npm_of,
)
from providers.clouds import cloud_of, labels_of, missing_settings
from providers.config import (
    OptionsConfig,
    ProviderBlock,
    is_switched_off,
    named_models,
    parse_blocks,
)
from providers.credentials import mask
from providers.kinds import ProviderKind
from providers.llm import has_adapter
from providers.llm.options import SHARED_OPTIONS
from providers.models import Credential, ProviderConfig
from providers.offers import is_listed, is_offered
from providers.testing import MODELS as SCRIPTED_MODELS
from teams.models import Team

# Servers of one's own often want none.
_KEYLESS = frozenset({COMPATIBLE_NPM, SCRIPTED_NPM})
SCRIPTED_COST: JsonObject = {"input": 0, "output": 0}
SCRIPTED_LIMIT: JsonObject = {"context": 200_000, "output": 32_000}


def effective_providers(
    team: Team, config: Mapping[str, JsonValue] | None = None
) -> dict[str, Provider]:
    """Merge everything a team has set up.

    `config` is settings in the shape of opencode.json, by default the team's own.

    Returns: provider id -> provider, by name; only enabled ones that have a model. No keys.
    Raises: Invalid when the settings' provider block is malformed.
    """
    config = team.config if config is None else config
    blocks = parse_blocks(config)
    rows = {row.provider_id: row for row in ProviderConfig.objects.filter(team=team)}
    found = [
        provider
        for key in rows.keys() | blocks.keys()
        if (
            provider := build_provider(key, row=rows.get(key), block=blocks.get(key), config=config)
        )
    ]
    return {one.id: one for one in sorted(found, key=lambda one: (one.name.lower(), one.id))}


def build_provider(
    provider_id: str,
    *,
    row: ProviderConfig | None,
    block: ProviderBlock | None,
    config: Mapping[str, JsonValue],
) -> Provider | None:
    """Merge what is set up for one provider. A turn needs one, and all of them cost a lot more.

    Returns: None when it is not set up at all, is switched off or has no model.
    """
    if (row is None and block is None) or is_switched_off(config, provider_id):
        return None
    if row is not None and not row.enabled:
        return None
    block = block or ProviderBlock()
    named = named_models(config, provider_id)
    provider = _from_row(row, block, named) if row else _from_block(provider_id, block, named)
    return provider if provider.models else None


def needs_key(npm: str) -> bool:
    """Whether providers of this SDK package answer only to a credential."""
    return npm not in _KEYLESS


def row_needs_key(row: ProviderConfig) -> bool:
    """The same of a row, whether it has a credential or not."""
    return needs_key(npm_of(row.provider_id, ProviderKind(row.kind)))


def connection_of(row: ProviderConfig | None, options: OptionsConfig) -> dict[str, str]:
    """Returns: where an account is, as adapters read it: the settings' word before the row's."""
    return {**(row.connection if row else {}), **options.connection()}


def settings_place(row: ProviderConfig) -> tuple[str, ...]:
    """Returns: the settings of a row's account that the team's JSON has, whose word counts."""
    block = parse_blocks(row.team.config).get(row.provider_id, ProviderBlock())
    cloud = cloud_of(npm_of(row.provider_id, ProviderKind(row.kind)))
    return tuple(cloud.kept(block.options.connection())) if cloud else ()


def row_missing(row: ProviderConfig, config: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Returns: the settings of a row's account that neither it nor `config` has.

    Raises: Invalid when the settings' provider block is malformed.
    """
    block = parse_blocks(config).get(row.provider_id, ProviderBlock())
    npm = npm_of(row.provider_id, ProviderKind(row.kind))
    return missing_settings(npm, connection_of(row, block.options), row.base_url)


def keyless_providers(team: Team, providers: Iterable[Provider]) -> set[str]:
    """Returns: the ids of those that cannot answer: a key or a setting is missing."""
    incomplete, wanting = set[str](), set[str]()
    for one in providers:
        if one.missing:
            incomplete.add(one.id)
        elif needs_key(one.npm):
            wanting.add(one.id)
    if not wanting:
        return incomplete
    keys = Credential.objects.filter(provider__team=team, provider__provider_id__in=wanting)
    return incomplete | wanting - set(keys.values_list("provider__provider_id", flat=True))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the settings page."""

    config: ProviderConfig
    model_names: tuple[str, ...]
    key: str
    needs_key: bool
    missing: tuple[str, ...] = ()

    @property
    def said_missing(self) -> str:
        """What the page calls the settings that are missing."""
        return labels_of(self.missing)


def list_rows(team: Team) -> list[Row]:
    """Returns: every provider a team has set up, enabled or not, by name."""
    configs = ProviderConfig.objects.filter(team=team).select_related("credential")
    rows = []
    for config in configs:
        provider = _from_row(config, ProviderBlock(), named_models(team.config, config.provider_id))
        credential = getattr(config, "credential", None)
        demands = needs_key(provider.npm)
        names = tuple(model.name for model in provider.models.values())
        key = mask(credential.last4) if credential else ""
        lacks_key = demands and credential is None
        missing = row_missing(config, team.config)
        rows.append(Row(config, names, key, needs_key=lacks_key, missing=missing))
    return rows


def model_names(row: ProviderConfig) -> dict[str, str]:
    """Returns: id -> name of the models that the team uses of a row, whether enabled or not."""
    named = named_models(row.team.config, row.provider_id)
    return {key: model.name for key, model in _from_row(row, ProviderBlock(), named).models.items()}


def offered_models(row: ProviderConfig) -> dict[str, Model]:
    """Returns: every model that could be picked for a row, and what is picked or named already."""
    kind = ProviderKind(row.kind)
    npm = npm_of(row.provider_id, kind)
    catalog, picked = _described(row.provider_id, kind), _objects(row.picked)
    in_use = picked.keys() | named_models(row.team.config, row.provider_id)
    described = {
        key: merge(catalog.get(key, {}), picked.get(key, {}))
        for key in [*catalog, *(key for key in picked if key not in catalog)]
        if key in in_use or is_listed(key, catalog[key])
    }
    return {
        key: build_model(row.provider_id, key, value, npm=npm, base_url=row.base_url)
        for key, value in described.items()
    }


def _from_row(row: ProviderConfig, block: ProviderBlock, named: frozenset[str]) -> Provider:
    kind = ProviderKind(row.kind)
    known = known_provider(row.provider_id)
    # The row's address alone decides where its key goes; a block's baseURL is not looked at, and
    # where the address is its adapter's, the block cannot choose another adapter.
    base_url = row.base_url or (known.base_url if known else "")
    catalog = _described(row.provider_id, kind)
    picked = _objects(row.picked)
    chosen = {key: merge(catalog.get(key, {}), over) for key, over in picked.items()}
    if not picked:
        chosen = _offered(catalog, named)
    source = "custom" if kind is ProviderKind.SCRIPTED else "api"
    npm = npm_of(row.provider_id, kind)
    if base_url:
        npm = _npm_of(block, npm)
    return Provider(
        id=row.provider_id,
        name=block.name or row.name,
        kind=kind,
        npm=npm,
        base_url=base_url,
        source=source,
        env=known.env if known else (),
        options=_public_options(block),
        models=_build(
            row.provider_id, chosen, block, npm=npm, base_url=base_url, is_bound=not base_url
        ),
        missing=missing_settings(npm, connection_of(row, block.options), base_url),
    )


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
        missing=missing_settings(npm, block.options.connection(), base_url),
    )


def _npm_of(block: ProviderBlock, otherwise: str) -> str:
    """What the settings name counts, as far as this server speaks it."""
    if not block.npm:
        return otherwise
    return block.npm if has_adapter(block.npm) else COMPATIBLE_NPM


def _described(provider_id: str, kind: ProviderKind) -> dict[str, JsonObject]:
    if kind is ProviderKind.SCRIPTED:
        return {
            key: {"name": name, "reasoning": False, "limit": SCRIPTED_LIMIT, "cost": SCRIPTED_COST}
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
    return {
        key: build_model(provider_id, key, value, npm=npm, base_url=base_url)
        for key, value in sorted(described.items())
        if block.keeps(key)
    }


def _public_options(block: ProviderBlock) -> JsonObject:
    """Request options for every model of the provider; nothing of the connection."""
    options = block.options.model_dump(exclude_none=True, exclude_unset=True)
    return {key: value for key, value in options.items() if key in SHARED_OPTIONS}


def _objects(value: Mapping[str, JsonValue]) -> dict[str, JsonObject]:
    return {key: item for key, item in value.items() if isinstance(item, dict)}
