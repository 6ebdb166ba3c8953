"""What a team can use: the catalog, its rows, and opencode.json settings laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import (
    KnownProvider,
    Model,
    Provider,
    build_model,
    catalog_models,
    kind_of_npm,
    known_provider,
    merge,
)
from providers.config import ProviderBlock, is_switched_off, parse_blocks
from providers.credentials import mask
from providers.facts import ProviderKind
from providers.models import Credential, ProviderConfig
from providers.request_options import CONNECTION_OPTIONS
from providers.testing import MODELS as SCRIPTED_MODELS
from teams.models import Team

NEED_A_KEY = frozenset({ProviderKind.OPENAI, ProviderKind.ANTHROPIC})
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
    provider = _from_row(row, block) if row else _from_block(provider_id, block)
    return provider if provider.models else None


def keyless_providers(team: Team, providers: Iterable[Provider]) -> set[str]:
    """Returns: the ids of those that cannot answer, because they want a key and have none."""
    wanting = {one.id for one in providers if one.kind in NEED_A_KEY}
    if not wanting:
        return wanting
    keys = Credential.objects.filter(provider__team=team, provider__provider_id__in=wanting)
    return wanting - set(keys.values_list("provider__provider_id", flat=True))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the settings page."""

    config: ProviderConfig
    model_names: tuple[str, ...]
    key: str
    needs_key: bool


def list_rows(team: Team) -> list[Row]:
    """Returns: every provider a team has set up, enabled or not, by name."""
    configs = ProviderConfig.objects.filter(team=team).select_related("credential")
    rows = []
    for config in configs:
        provider = _from_row(config, ProviderBlock())
        credential = getattr(config, "credential", None)
        demands = provider.kind in NEED_A_KEY
        names = tuple(model.name for model in provider.models.values())
        key = mask(credential.last4) if credential else ""
        rows.append(Row(config, names, key, needs_key=demands and credential is None))
    return rows


def model_names(row: ProviderConfig) -> dict[str, str]:
    """Returns: id -> name of the models that the team uses of a row, whether enabled or not."""
    return {key: model.name for key, model in _from_row(row, ProviderBlock()).models.items()}


def offered_models(row: ProviderConfig) -> dict[str, Model]:
    """Returns: every model that could be picked for a row: the catalog's and the picked ones."""
    kind = ProviderKind(row.kind)
    described = {**_described(row.provider_id, kind), **_objects(row.picked)}
    return {
        key: build_model(row.provider_id, key, value, kind=kind, base_url=row.base_url)
        for key, value in described.items()
    }


def _from_row(row: ProviderConfig, block: ProviderBlock) -> Provider:
    kind = ProviderKind(row.kind)
    known = known_provider(row.provider_id)
    # The row's address alone decides where its key goes; a block's baseURL is not looked at.
    base_url = row.base_url or (known.base_url if known else "")
    catalog = _described(row.provider_id, kind)
    picked = _objects(row.picked)
    chosen = {key: merge(catalog.get(key, {}), over) for key, over in picked.items()}
    if not picked:
        chosen = {key: value for key, value in catalog.items() if _is_current(value)}
    source = "custom" if kind is ProviderKind.SCRIPTED else "api"
    return Provider(
        id=row.provider_id,
        name=block.name or row.name,
        kind=kind,
        base_url=base_url,
        source=source,
        env=known.env if known else (),
        options=_public_options(block),
        models=_build(row.provider_id, chosen, block, kind=kind, base_url=base_url),
    )


def _from_block(provider_id: str, block: ProviderBlock) -> Provider:
    known = known_provider(provider_id)
    kind = _kind_of(block, known)
    base_url = block.base_url or (known.base_url if known else "")
    catalog = _described(provider_id, kind) if known else {}
    chosen = {key: value for key, value in catalog.items() if _is_current(value)}
    return Provider(
        id=provider_id,
        name=block.name or (known.name if known else provider_id),
        kind=kind,
        base_url=base_url,
        source="config",
        env=tuple(block.env) or (known.env if known else ()),
        options=_public_options(block),
        models=_build(provider_id, chosen, block, kind=kind, base_url=base_url),
    )


def _kind_of(block: ProviderBlock, known: KnownProvider | None) -> ProviderKind:
    if block.npm or known is None:
        return kind_of_npm(block.npm or "")
    return known.kind


def _described(provider_id: str, kind: ProviderKind) -> dict[str, JsonObject]:
    if kind is ProviderKind.SCRIPTED:
        return {
            key: {"name": name, "reasoning": False, "limit": SCRIPTED_LIMIT, "cost": SCRIPTED_COST}
            for key, name in SCRIPTED_MODELS.items()
        }
    return catalog_models(provider_id)


def _is_current(description: JsonObject) -> bool:
    """An agent needs tools, and nobody should start with what is about to go."""
    return description.get("tool_call") is not False and description.get("status") != "deprecated"


def _build(
    provider_id: str,
    chosen: dict[str, JsonObject],
    block: ProviderBlock,
    *,
    kind: ProviderKind,
    base_url: str,
) -> dict[str, Model]:
    described = dict(chosen)
    for key, over in block.descriptions().items():
        described[key] = merge(described.get(key) or catalog_models(provider_id).get(key, {}), over)
    return {
        key: build_model(provider_id, key, value, kind=kind, base_url=base_url)
        for key, value in sorted(described.items())
        if block.keeps(key)
    }


def _public_options(block: ProviderBlock) -> JsonObject:
    """Request options for every model of the provider; nothing of the connection."""
    options = block.options.model_dump(exclude_none=True, exclude_unset=True)
    return {key: value for key, value in options.items() if key not in CONNECTION_OPTIONS}


def _objects(value: Mapping[str, JsonValue]) -> dict[str, JsonObject]:
    return {key: item for key, item in value.items() if isinstance(item, dict)}
