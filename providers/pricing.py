"""Tokens to money."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal

from providers.account_model import is_personal
from providers.llm.events import Finished
from providers.llm.facts import Cost, Price
from providers.llm.messages import ProviderRequest, Usage
from providers.llm.options import service_of
from teams.models import Basis

_PER = Decimal(1_000_000)
# As exact as amounts are stored.
_UNIT = Decimal(1).scaleb(-10)
# What is kept in the cache for an hour, of the price of fresh input.
# Source: https://docs.claude.com/en/docs/build-with-claude/prompt-caching#pricing
_HOUR_FACTOR = 2
# The most that vendors take for a service tier whose price the catalog does not list.
# Source: https://openai.com/api/pricing (priority: 1.67 to 2), https://ai.google.dev/gemini-api/
# docs/priority-inference (1.75 to 2), https://docs.claude.com/en/docs/build-with-claude/fast-mode
_FACTORS = {"priority": Decimal(2), "fast": Decimal(6)}
# What OpenAI calls a request that leaves the tier to the settings of the account.
_LEFT_TO_ACCOUNT = frozenset({"", "auto"})
_SETTLED_BY_ACCOUNT = frozenset({"@ai-sdk/openai"})


@dataclass(frozen=True, slots=True)
class Charge:
    """What an answer has cost, and how that is known."""

    cost: Decimal
    basis: Basis

    @property
    def said_basis(self) -> Basis | None:
        """The basis as events have it, which leave out the usual one."""
        return None if self.basis is Basis.COUNTED else self.basis


def charge_for(finished: Finished, request: ProviderRequest) -> Charge:
    """Price an answer that has come to its end: as its provider says, else by its tokens.

    Returns: an amount of 0 where nobody knows the price, and where a person pays.
    """
    cost = request.model.cost
    if is_personal(request.model):
        return Charge(Decimal(0), Basis.PERSONAL)
    if finished.billed is not None:
        return Charge(round_up(finished.billed), Basis.BILLED)
    if not is_priced(cost):
        return Charge(Decimal(0), Basis.UNPRICED)
    # A cheaper tier counts only where the provider says that it was that.
    return Charge(
        cost_of(finished.usage, cost, finished.tier or asked_tier(request)), Basis.COUNTED
    )


def cost_of(usage: Usage, cost: Cost, tier: str = "") -> Decimal:
    """Price one provider turn that was answered with a service tier or speed.

    Units: USD, rounded up to what can be stored. Reasoning is charged as output. What came from the
    cache or went into it is charged as fresh input where it has no price of its own.
    Source: how OpenCode prices; the largest tier that the prompt exceeds sets every price of the
    turn.
    """
    price = served_price(price_for(usage, cost), cost, tier)
    thinks = usage.reasoning_tokens > 0
    hour_tokens = min(usage.cache_write_hour_tokens, usage.cache_write_tokens)
    total = (
        usage.input_tokens * price.input
        + (usage.output_tokens + usage.reasoning_tokens) * output_price(price, thinks=thinks)
        + usage.cache_read_tokens * (price.cache_read or price.input)
        + (usage.cache_write_tokens - hour_tokens) * (price.cache_write or price.input)
        + hour_tokens * hour_price(price)
    )
    return round_up(total / _PER)


def round_up(amount: Decimal) -> Decimal:
    """Returns: an amount of USD as it can be stored, never less than it was."""
    return amount.quantize(_UNIT, ROUND_CEILING)


def is_priced(cost: Cost) -> bool:
    """Whether it is known what a model costs: some are known to be free."""
    return cost.is_known


def counted_prices(cost: Cost, other: Cost) -> dict[tuple[str, str], Decimal]:
    """Returns: what tokens are counted with, by name and by the tier of a size or service that
    either has, "" for the usual one; nothing where no price is known."""
    if not is_priced(cost):
        return {}
    prices = {"": cost.base}
    for one in (cost, other):
        for size in (tier.above_tokens for tier in one.tiers):
            prices[f"> {size}"] = price_for(Usage(input_tokens=size + 1), cost)
        prices |= {known.name: served_price(cost.base, cost, known.name) for known in one.services}
    found = {}
    for tier, price in prices.items():
        found["input", tier], found["output", tier] = price.input, price.output
        found["cache_read", tier] = price.cache_read or price.input
        found["cache_write", tier] = price.cache_write or price.input
        found["reasoning", tier] = output_price(price, thinks=True)
    return found


def output_price(price: Price, *, thinks: bool) -> Decimal:
    """Return the price of an answer; some vendors take more for all of one with thinking in it."""
    return max(price.output, price.reasoning) if thinks else price.output


def hour_price(price: Price) -> Decimal:
    """Return the price of what is kept in the cache for an hour."""
    return max(price.cache_write, _HOUR_FACTOR * price.input)


def price_for(usage: Usage, cost: Cost) -> Price:
    """Return the price that holds for a prompt of this size."""
    reached = [tier for tier in cost.tiers if usage.prompt_tokens > tier.above_tokens]
    return max(reached, key=lambda tier: tier.above_tokens).price if reached else cost.base


def served_price(price: Price, cost: Cost, tier: str) -> Price:
    """Return what becomes of a price with a service tier or speed; names unknown change nothing."""
    listed = next((one.price for one in cost.services if one.name == tier), None)
    factor = _FACTORS.get(tier, Decimal(1))
    if listed is None and factor == 1:
        return price
    values = {}
    for name in (field.name for field in fields(Price)):
        now, base = getattr(price, name), getattr(cost.base, name)
        of_list = getattr(listed, name) if listed else Decimal(0)
        # The list is for short prompts; longer ones rise as they do without it.
        rise = now / base if base else Decimal(1)
        values[name] = of_list * rise if of_list else now * factor
    return Price(**values)


def asked_tier(request: ProviderRequest) -> str:
    """Return the service tier or speed by which a call is priced until its provider names one."""
    asked = service_of(request)
    return asked if asked in _FACTORS else ""


def possible_tiers(request: ProviderRequest) -> frozenset[str]:
    """Return every service tier or speed with which a call may be answered; "" is the usual one."""
    asked = service_of(request)
    if asked in _LEFT_TO_ACCOUNT and request.model.npm in _SETTLED_BY_ACCOUNT:
        return frozenset({"", *(one.name for one in request.model.cost.services)})
    # What is asked for may be refused for want of room, and be answered as usual.
    return frozenset({"", asked})


def dearest_price(cost: Cost, prompt_tokens: int, tiers: frozenset[str] = frozenset()) -> Price:
    """Return the highest of each price that may hold for a prompt of at most this size."""
    reached = [tier.price for tier in cost.tiers if prompt_tokens > tier.above_tokens]
    sized = [cost.base, *reached]
    prices = [*sized, *(served_price(one, cost, tier) for one in sized for tier in tiers)]
    names = (field.name for field in fields(Price))
    return Price(**{name: max(getattr(one, name) for one in prices) for name in names})
