"""Providers and models as values, and the shapes in which clients see them.

A model is described in models.dev's fields, by the catalog and by opencode.json alike; so
descriptions are merged as JSON and become a `Model` once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from opencode_web.lib.json import JsonObject, JsonValue
from providers import catalog_file
from providers.address_templates import account_of, filled, is_template
from providers.descriptions import (
    MEDIA,
    OVER_200K_TOKENS,
    object_of,
    objects_of,
    read_capabilities,
    read_cost,
    read_limit,
)
from providers.kinds import Obstacle, ProviderKind
from providers.llm import has_adapter
from providers.llm.facts import (
    Capabilities,
    Cost,
    Limit,
    ModelFacts,
    Price,
)
from providers.llm.families.variants import variants_of
from providers.models import ProviderConfig

COMPATIBLE_NPM = "@ai-sdk/openai-compatible"
SCRIPTED_NPM = "scripted"
_KIND_OF_NPM = {
    "@ai-sdk/openai": ProviderKind.OPENAI,
    "@ai-sdk/anthropic": ProviderKind.ANTHROPIC,
    SCRIPTED_NPM: ProviderKind.SCRIPTED,
}
_NPM_OF_KIND = {kind: npm for npm, kind in _KIND_OF_NPM.items()}
_NPM_OF_PROVIDER = {
    # The catalog has only its plain form, which leaves most of its models out.
    "github-copilot": "@ai-sdk/github-copilot",
    # A plain server of one's own, by another name.
    "qvac": COMPATIBLE_NPM,
}


@dataclass(frozen=True, slots=True)
class Model:
    """One model of one provider. `api_id` is the name the provider knows it by."""

    id: str
    provider_id: str
    api_id: str
    npm: str
    base_url: str
    name: str
    family: str = ""
    status: str = "active"
    release_date: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities)
    cost: Cost = field(default_factory=Cost)
    limit: Limit = field(default_factory=Limit)
    options: JsonObject = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, JsonObject] = field(default_factory=dict)
    endpoints: tuple[str, ...] = ()
    """Paths at which its provider says that it is served."""

    @property
    def connection(self) -> dict[str, str]:
        """What adapters read of it beside the connection of the account."""
        return {"supported_endpoints": " ".join(self.endpoints)} if self.endpoints else {}

    def to_wire(self) -> JsonObject:
        """Returns: the shape Model. Source: OpenCode's HTTP API."""
        wire: JsonObject = {
            "id": self.id,
            "providerID": self.provider_id,
            "api": {"id": self.api_id, "url": self.base_url, "npm": self.npm},
            "name": self.name,
            "capabilities": _capabilities_to_wire(self.capabilities),
            "cost": _cost_to_wire(self.cost),
            "limit": _limit_to_wire(self.limit),
            "status": self.status,
            "options": self.options,
            "headers": dict(self.headers),
            "release_date": self.release_date,
            "variants": dict(self.variants),
        }
        if self.family:
            wire["family"] = self.family
        return wire


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider with the models a team may use. It carries no key."""

    id: str
    name: str
    kind: ProviderKind
    npm: str
    base_url: str
    source: str
    """Where it comes from: env, config, custom or api (a key was set)."""
    env: tuple[str, ...] = ()
    options: JsonObject = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    """Settings of its account without which it has no address."""
    has_credential: bool = False
    account: ProviderConfig | None = field(default=None, repr=False)
    """Whose credential it is called with; None for one that only settings describe."""

    @property
    def is_unproven(self) -> bool:
        """Whether it has an account of which no call has gone well yet."""
        row = None if self.kind is ProviderKind.SCRIPTED else self.account
        return row is not None and row.answered_at is None

    def to_wire(self) -> JsonObject:
        """Returns: the shape Provider. Source: OpenCode's HTTP API."""
        return {
            "id": self.id,
            "name": self.name,
            "source": self.source,
            "env": list(self.env),
            "options": self.options,
            "models": {key: model.to_wire() for key, model in self.models.items()},
        }


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """A provider the catalog knows and this server can speak to.

    Without a `base_url` and a template its adapter knows the address.
    """

    id: str
    name: str
    kind: ProviderKind
    npm: str
    base_url: str
    env: tuple[str, ...] = ()
    doc: str = ""
    # An address with parts that belong to one account; `base_url` is then empty.
    template: str = ""

    def address(self, connection: Mapping[str, str]) -> str:
        """Returns: where an account is; "" where its adapter knows, or a part of it is missing."""
        return filled(self.template, connection) if self.template else self.base_url


@dataclass(frozen=True, slots=True)
class UnusableProvider:
    """A provider the catalog knows and that cannot be set up here."""

    id: str
    name: str
    obstacle: Obstacle

    @property
    def reason(self) -> str:
        """What a person reads of it."""
        return str(self.obstacle.label)


def known_providers() -> list[KnownProvider]:
    """Returns: every provider that can be set up with a key alone, by name."""
    found = (_to_known(item) for item in _listed() if _obstacle(item) is None)
    return sorted(found, key=lambda one: one.name.lower())


def unusable_providers() -> list[UnusableProvider]:
    """Returns: all others of the catalog, by name, each with what stands in the way."""
    found = (
        UnusableProvider(str(item["id"]), str(item["name"]), obstacle)
        for item in _listed()
        if (obstacle := _obstacle(item)) is not None
    )
    return sorted(found, key=lambda one: one.name.lower())


def known_provider(provider_id: str) -> KnownProvider | None:
    """Returns: one of `known_providers`."""
    item = catalog_file.read_providers().get(provider_id)
    return _to_known(item) if item is not None and _obstacle(item) is None else None


def catalog_models(provider_id: str) -> dict[str, JsonObject]:
    """Returns: model id -> its description in models.dev's fields; empty for unknown providers."""
    models = catalog_file.read_models(provider_id)
    return {key: value for key, value in models.items() if isinstance(value, dict)}


def kind_of_npm(npm: str) -> ProviderKind:
    """Say how a provider of this SDK package is set up."""
    return _KIND_OF_NPM.get(npm, ProviderKind.COMPATIBLE)


def npm_of(provider_id: str, kind: ProviderKind) -> str:
    """Returns: the SDK package whose wire a provider speaks."""
    if kind in _NPM_OF_KIND:
        return _NPM_OF_KIND[kind]
    known = known_provider(provider_id)
    return known.npm if known else COMPATIBLE_NPM


def build_models(
    provider_id: str, described: Mapping[str, JsonObject], *, npm: str, base_url: str
) -> dict[str, Model]:
    """Make models of descriptions. What the catalog says alone is made once.

    A turn needs all of its provider's, and a reseller has hundreds.
    """
    listed = catalog_file.read_models(provider_id)
    kept: dict[str, Model] = catalog_file.cache_of(provider_id, npm, base_url)
    built = {}
    for key, value in described.items():
        is_plain = value is listed.get(key)
        model = kept.get(key) if is_plain else None
        if model is None:
            model = build_model(provider_id, key, value, npm=npm, base_url=base_url)
            if is_plain:
                kept[key] = model
        built[key] = model
    return built


def build_model(
    provider_id: str, model_id: str, description: JsonObject, *, npm: str, base_url: str
) -> Model:
    """Make a model of a merged description. Its own wire wins over that of its provider.

    What the description leaves out gets OpenCode's defaults: tools, text in and out, no price, no
    limits. Source: OpenCode's own defaults.
    """
    npm, base_url = _own_wire(object_of(description.get("provider")), npm, base_url)
    options = description.get("reasoning_options")
    facts = ModelFacts(
        provider_id=provider_id,
        npm=npm,
        api_model=str(description.get("id") or model_id),
        capabilities=read_capabilities(description),
        limit=read_limit(object_of(description.get("limit"))),
        reasoning_options=tuple(objects_of(options)) if isinstance(options, list) else None,
    )
    return Model(
        id=model_id,
        provider_id=provider_id,
        api_id=facts.api_model,
        npm=npm,
        base_url=base_url,
        name=str(description.get("name") or model_id),
        family=str(description.get("family") or ""),
        status=str(description.get("status") or "active"),
        release_date=str(description.get("release_date") or ""),
        capabilities=facts.capabilities,
        cost=read_cost(description, npm),
        limit=facts.limit,
        options=object_of(description.get("options")),
        headers={key: str(value) for key, value in object_of(description.get("headers")).items()},
        variants=_read_variants(object_of(description.get("variants")), facts),
        endpoints=_texts(description.get("supported_endpoints")),
    )


def _own_wire(own: JsonObject, npm: str, base_url: str) -> tuple[str, str]:
    """A model's own address counts where it is on the host that the provider's key is for."""
    named, api = str(own.get("npm") or npm), str(own.get("api") or base_url)
    if is_template(api) and npm == COMPATIBLE_NPM:
        return npm, base_url
    usable = not is_template(api) and urlsplit(api)[:2] == urlsplit(base_url)[:2]
    if not has_adapter(named) or (named == COMPATIBLE_NPM and not usable):
        return npm, base_url
    return named, api if usable else base_url


def merge(base: JsonObject, over: JsonObject) -> JsonObject:
    """Merge objects deeply; anything else of `over` replaces."""
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = merge(object_of(before), object_of(value)) if both else value
    return merged


def _listed() -> Iterable[JsonObject]:
    return catalog_file.read_providers().values()


def _npm_listed(item: JsonObject) -> str:
    return _NPM_OF_PROVIDER.get(str(item["id"])) or str(item.get("npm", ""))


def _obstacle(item: JsonObject) -> Obstacle | None:
    npm, base_url = _npm_listed(item), str(item.get("api") or "")
    if is_template(base_url):
        is_plain = npm == COMPATIBLE_NPM or not has_adapter(npm)
        is_clear = account_of(str(item["id"]), base_url) is not None
        return None if is_plain and is_clear else Obstacle.ADDRESS
    if npm == COMPATIBLE_NPM and not base_url:
        return Obstacle.ADDRESS
    return None if has_adapter(npm) or base_url else Obstacle.WIRE


def _to_known(item: JsonObject) -> KnownProvider:
    provider_id, base_url = str(item["id"]), str(item.get("api") or "")
    npm = _npm_listed(item)
    npm = npm if has_adapter(npm) else COMPATIBLE_NPM
    names = _texts(item.get("env"))
    doc, kind = str(item.get("doc", "")), kind_of_npm(npm)
    template = base_url if is_template(base_url) else ""
    base_url = "" if template else base_url
    return KnownProvider(provider_id, str(item["name"]), kind, npm, base_url, names, doc, template)


def _read_variants(given: JsonObject, facts: ModelFacts) -> dict[str, JsonObject]:
    merged = merge(dict(variants_of(facts)), given)
    return {
        name: {key: value for key, value in options.items() if key != "disabled"}
        for name, options in merged.items()
        if isinstance(options, dict) and not options.get("disabled")
    }


def _capabilities_to_wire(facts: Capabilities) -> JsonObject:
    interleaved: JsonValue = facts.interleaved
    if isinstance(interleaved, str):
        interleaved = {"field": interleaved}
    return {
        "temperature": facts.temperature,
        "reasoning": facts.reasoning,
        "attachment": facts.attachment,
        "toolcall": facts.toolcall,
        "input": {medium: medium in facts.input for medium in MEDIA},
        "output": {medium: medium in facts.output for medium in MEDIA},
        "interleaved": interleaved,
    }


def _cost_to_wire(cost: Cost) -> JsonObject:
    wire = _price_to_wire(cost.base)
    if cost.tiers:
        wire["tiers"] = [
            {**_price_to_wire(t.price), "tier": {"type": "context", "size": t.above_tokens}}
            for t in cost.tiers
        ]
    over = next((t for t in cost.tiers if t.above_tokens == OVER_200K_TOKENS), None)
    if over is not None:
        wire["experimentalOver200K"] = _price_to_wire(over.price)
    return wire


def _price_to_wire(price: Price) -> JsonObject:
    return {
        "input": float(price.input),
        "output": float(price.output),
        "cache": {"read": float(price.cache_read), "write": float(price.cache_write)},
    }


def _limit_to_wire(limit: Limit) -> JsonObject:
    wire: JsonObject = {"context": limit.context, "output": limit.output}
    if limit.input is not None:
        wire["input"] = limit.input
    return wire


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list) else ()
