"""What models.dev says of a model, as values: abilities, limits, prices.

Its fields are also those of a model in opencode.json, so nothing of it is trusted to be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from decimal import Decimal

from opencode_web.lib.json import JsonObject, JsonValue
from providers.llm.facts import Capabilities, Cost, Limit, Price, PriceTier, ServicePrice

MEDIA = ("text", "audio", "image", "video", "pdf")
OVER_200K_TOKENS = 200_000
# Of the usual price. Source: https://platform.openai.com/docs/guides/flex-processing
OPENAI_FLEX = Decimal("0.5")


def read_capabilities(description: JsonObject) -> Capabilities:
    """Returns: what a model takes and gives; tools and text where nothing is said."""
    modalities = object_of(description.get("modalities"))
    interleaved = description.get("interleaved", False)
    if isinstance(interleaved, dict):
        interleaved = interleaved.get("field", True)
    return Capabilities(
        temperature=bool(description.get("temperature", False)),
        reasoning=bool(description.get("reasoning", False)),
        attachment=bool(description.get("attachment", False)),
        toolcall=bool(description.get("tool_call", True)),
        input=media_of(modalities.get("input")),
        output=media_of(modalities.get("output")),
        interleaved=interleaved if isinstance(interleaved, str) else bool(interleaved),
    )


def media_of(value: JsonValue) -> frozenset[str]:
    """Returns: the kinds that a list names; text where it names none."""
    named = {str(item) for item in value} if isinstance(value, list) else set()
    return frozenset(named & set(MEDIA)) or frozenset({"text"})


def read_limit(limit: JsonObject) -> Limit:
    """Returns: how much it reads and writes."""
    given = limit.get("input")
    return Limit(
        context=number_of(limit.get("context")),
        output=number_of(limit.get("output")),
        input=number_of(given) if given is not None else None,
    )


def read_cost(description: JsonObject, npm: str) -> Cost:
    """Returns: all of its prices; unknown unless both what is read and written has one."""
    cost = object_of(description.get("cost"))
    tiers = {
        number_of(object_of(tier.get("tier")).get("size")): _read_price(tier)
        for tier in objects_of(cost.get("tiers"))
    }
    # The older form of the same, which has no room for where a tier really begins.
    if not tiers and isinstance(over := cost.get("context_over_200k"), dict):
        tiers[OVER_200K_TOKENS] = _read_price(over)
    ordered = tuple(PriceTier(size, tiers[size]) for size in sorted(tiers))
    base, is_known = _read_price(cost), "input" in cost and "output" in cost
    return Cost(base, ordered, is_known, _read_services(description, base, npm))


def _read_services(description: JsonObject, base: Price, npm: str) -> tuple[ServicePrice, ...]:
    """What other service tiers and speeds cost, by the name that a request has for them."""
    if not (base.input or base.output):
        return ()  # a plan pays for it
    modes = object_of(object_of(description.get("experimental")).get("modes"))
    found = {}
    for mode in objects_of([*modes.values()]):
        body = object_of(object_of(mode.get("provider")).get("body"))
        name = body.get("service_tier") or body.get("speed")
        if isinstance(name, str) and (cost := object_of(mode.get("cost"))):
            found[name] = _dearer(_read_price(cost), base)
    if npm == "@ai-sdk/openai":
        found["flex"] = Price(*(value * OPENAI_FLEX for value in _values(base)))
    return tuple(ServicePrice(name, price) for name, price in found.items())


def _dearer(price: Price, base: Price) -> Price:
    """Settings may have raised the base; what is faster is never cheaper."""
    pairs = zip(_values(price), _values(base), strict=True)
    return Price(*(max(given, least) if given else given for given, least in pairs))


def _values(price: Price) -> list[Decimal]:
    return [getattr(price, one.name) for one in fields(Price)]


def _read_price(price: JsonObject) -> Price:
    names = (one.name for one in fields(Price))
    # Through str: Decimal(0.1) would carry the binary fraction's whole tail.
    return Price(*(Decimal(str(price.get(name) or 0)) for name in names))


def object_of(value: JsonValue) -> JsonObject:
    """Returns: the object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: JsonValue) -> Iterable[JsonObject]:
    """Returns: the objects of a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number_of(value: JsonValue) -> int:
    """Returns: the whole number; 0 for anything else."""
    return int(value) if isinstance(value, int | float) else 0
