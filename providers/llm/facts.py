"""What is known about a model: limits, prices, abilities. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from .json import JsonObject


@dataclass(frozen=True, slots=True)
class Limit:
    """Units: tokens; 0 means unknown, which never overflows."""

    context: int = 0
    output: int = 0
    input: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """Units: USD per million tokens; 0 where the cache or thinking has no price of its own.

    `reasoning` is the price of a whole answer with thinking in it.
    """

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_read: Decimal = Decimal(0)
    cache_write: Decimal = Decimal(0)
    reasoning: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class PriceTier:
    """The price that holds once the prompt is longer than `above_tokens`."""

    above_tokens: int
    price: Price


@dataclass(frozen=True, slots=True)
class ServicePrice:
    """The base price with another service tier or speed, by the name that requests have for it."""

    name: str
    price: Price


@dataclass(frozen=True, slots=True)
class Cost:
    """A base price, the tiers for long prompts, smallest first, and prices of service tiers.

    `is_known`: somebody has said what is read and what is written costs, so that zeros mean free.
    """

    base: Price = field(default_factory=Price)
    tiers: tuple[PriceTier, ...] = ()
    is_known: bool = False
    services: tuple[ServicePrice, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes and gives. `interleaved` names the field reasoning goes back in."""

    temperature: bool = False
    reasoning: bool = False
    attachment: bool = False
    toolcall: bool = True
    input: frozenset[str] = frozenset({"text"})
    output: frozenset[str] = frozenset({"text"})
    interleaved: str | bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What its variants follow from.

    `reasoning_options` are those of the catalog: empty where nothing can be chosen, None where
    nobody has said.
    """

    provider_id: str
    npm: str
    api_model: str
    capabilities: Capabilities = field(default_factory=Capabilities)
    limit: Limit = field(default_factory=Limit)
    reasoning_options: tuple[JsonObject, ...] | None = None
