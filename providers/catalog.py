"""Providers and models as values, and the shapes in which clients see them.

A model is described in models.dev's fields, by the catalog and by opencode.json alike; so
descriptions are merged as JSON and become a `Model` once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from opencode_web.lib.json import JsonObject, JsonValue
from providers import catalog_file
from providers.facts import Capabilities, Cost, Limit, Price, PriceTier, ProviderKind

MEDIA = ("text", "audio", "image", "video", "pdf")
OVER_200K_TOKENS = 200_000
# Providers that models.dev knows by their own SDK, which speak Chat Completions here.
# Source: each vendor's page on OpenAI compatibility.
_COMPATIBLE_BASE_URLS = {
    "@ai-sdk/cerebras": "https://api.cerebras.ai/v1",
    "@ai-sdk/deepinfra": "https://api.deepinfra.com/v1/openai",
    "@ai-sdk/google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "@ai-sdk/groq": "https://api.groq.com/openai/v1",
    "@ai-sdk/mistral": "https://api.mistral.ai/v1",
    "@ai-sdk/perplexity": "https://api.perplexity.ai",
    "@ai-sdk/togetherai": "https://api.together.xyz/v1",
    "@ai-sdk/vercel": "https://api.v0.dev/v1",
    "@ai-sdk/xai": "https://api.x.ai/v1",
    "@openrouter/ai-sdk-provider": "https://openrouter.ai/api/v1",
}
NPM_OF_KIND = {
    ProviderKind.OPENAI: "@ai-sdk/openai",
    ProviderKind.ANTHROPIC: "@ai-sdk/anthropic",
    ProviderKind.COMPATIBLE: "@ai-sdk/openai-compatible",
    ProviderKind.SCRIPTED: "@ai-sdk/openai-compatible",
}
EFFORTS = ("low", "medium", "high")


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
    base_url: str
    source: str
    """Where it comes from: env, config, custom or api (a key was set)."""
    env: tuple[str, ...] = ()
    options: JsonObject = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)

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
    """A provider the catalog knows and this server can speak to."""

    id: str
    name: str
    kind: ProviderKind
    base_url: str
    env: tuple[str, ...] = ()
    doc: str = ""


def known_providers() -> list[KnownProvider]:
    """Returns: every provider that can be set up with a key alone, by name."""
    providers = catalog_file.read_head()["providers"]
    found = (_to_known(item) for item in _objects(providers))
    return sorted((one for one in found if one is not None), key=lambda one: one.name.lower())


def known_provider(provider_id: str) -> KnownProvider | None:
    """Returns: one of `known_providers`."""
    providers = _objects(catalog_file.read_head()["providers"])
    item = next((one for one in providers if one["id"] == provider_id), None)
    return _to_known(item) if item is not None else None


def catalog_models(provider_id: str) -> dict[str, JsonObject]:
    """Returns: model id -> its description in models.dev's fields; empty for unknown providers."""
    models = catalog_file.read_models(provider_id)
    return {key: value for key, value in models.items() if isinstance(value, dict)}


def kind_of_npm(npm: str) -> ProviderKind:
    """Say which wire a provider of this SDK package speaks."""
    wires = {NPM_OF_KIND[kind]: kind for kind in (ProviderKind.OPENAI, ProviderKind.ANTHROPIC)}
    return wires.get(npm, ProviderKind.COMPATIBLE)


def build_model(
    provider_id: str, model_id: str, description: JsonObject, *, kind: ProviderKind, base_url: str
) -> Model:
    """Make a model of a merged description.

    What the description leaves out gets OpenCode's defaults: tools, text in and out, no price, no
    limits. Source: OpenCode's own defaults.
    """
    reasoning = bool(description.get("reasoning", False))
    return Model(
        id=model_id,
        provider_id=provider_id,
        api_id=str(description.get("id") or model_id),
        npm=NPM_OF_KIND[kind],
        base_url=base_url,
        name=str(description.get("name") or model_id),
        family=str(description.get("family") or ""),
        status=str(description.get("status") or "active"),
        release_date=str(description.get("release_date") or ""),
        capabilities=_read_capabilities(description, reasoning=reasoning),
        cost=_read_cost(_object(description.get("cost"))),
        limit=_read_limit(_object(description.get("limit"))),
        options=_object(description.get("options")),
        headers={key: str(value) for key, value in _object(description.get("headers")).items()},
        variants=_read_variants(_object(description.get("variants")), reasoning=reasoning),
    )


def merge(base: JsonObject, over: JsonObject) -> JsonObject:
    """Merge objects deeply; anything else of `over` replaces."""
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = merge(_object(before), _object(value)) if both else value
    return merged


def _to_known(item: JsonObject) -> KnownProvider | None:
    npm, kind = str(item.get("npm", "")), kind_of_npm(str(item.get("npm", "")))
    base_url = str(item.get("api") or _COMPATIBLE_BASE_URLS.get(npm, ""))
    # An address with a placeholder belongs to one account; it is set up as an own server instead.
    if (kind is ProviderKind.COMPATIBLE and not base_url) or "${" in base_url:
        return None
    env = item.get("env")
    names = tuple(str(name) for name in env) if isinstance(env, list) else ()
    doc = str(item.get("doc", ""))
    return KnownProvider(str(item["id"]), str(item["name"]), kind, base_url, names, doc)


def _read_capabilities(description: JsonObject, *, reasoning: bool) -> Capabilities:
    modalities = _object(description.get("modalities"))
    interleaved = description.get("interleaved", False)
    if isinstance(interleaved, dict):
        interleaved = interleaved.get("field", True)
    return Capabilities(
        temperature=bool(description.get("temperature", False)),
        reasoning=reasoning,
        attachment=bool(description.get("attachment", False)),
        toolcall=bool(description.get("tool_call", True)),
        input=_media(modalities.get("input")),
        output=_media(modalities.get("output")),
        interleaved=interleaved if isinstance(interleaved, str) else bool(interleaved),
    )


def _media(value: JsonValue) -> frozenset[str]:
    named = {str(item) for item in value} if isinstance(value, list) else set()
    return frozenset(named & set(MEDIA)) or frozenset({"text"})


def _read_limit(limit: JsonObject) -> Limit:
    given = limit.get("input")
    return Limit(
        context=_int(limit.get("context")),
        output=_int(limit.get("output")),
        input=_int(given) if given is not None else None,
    )


def _read_cost(cost: JsonObject) -> Cost:
    tiers = {
        _int(_object(tier.get("tier")).get("size")): _read_price(tier)
        for tier in _objects(cost.get("tiers"))
    }
    if isinstance(over := cost.get("context_over_200k"), dict):
        tiers.setdefault(OVER_200K_TOKENS, _read_price(over))
    ordered = tuple(PriceTier(size, tiers[size]) for size in sorted(tiers))
    return Cost(_read_price(cost), ordered, is_known="input" in cost and "output" in cost)


def _read_price(price: JsonObject) -> Price:
    names = ("input", "output", "cache_read", "cache_write")
    # Through str: Decimal(0.1) would carry the binary fraction's whole tail.
    return Price(*(Decimal(str(price.get(name) or 0)) for name in names))


def _read_variants(given: JsonObject, *, reasoning: bool) -> dict[str, JsonObject]:
    variants: JsonObject = {}
    if reasoning:
        variants = {effort: {"reasoningEffort": effort} for effort in EFFORTS}
    merged = merge(variants, given)
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


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: JsonValue) -> Iterable[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _int(value: JsonValue) -> int:
    return int(value) if isinstance(value, int | float) else 0
