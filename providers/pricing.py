"""Tokens to money."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from providers.llm.facts import Cost, Price
from providers.llm.messages import Usage

_PER = Decimal(1_000_000)
# As exact as amounts are stored.
_UNIT = Decimal(1).scaleb(-10)


def cost_of(usage: Usage, cost: Cost) -> Decimal:
    """Price one provider turn.

    Units: USD, rounded up to what can be stored. Reasoning is charged as output. What came from the
    cache or went into it is charged as fresh input where it has no price of its own.
    Source: how OpenCode prices; the largest tier that the prompt exceeds sets every price of the
    turn.
    """
    price = price_for(usage, cost)
    total = (
        usage.input_tokens * price.input
        + (usage.output_tokens + usage.reasoning_tokens) * price.output
        + usage.cache_read_tokens * (price.cache_read or price.input)
        + usage.cache_write_tokens * (price.cache_write or price.input)
    )
    return round_up(total / _PER)


def round_up(amount: Decimal) -> Decimal:
    """Returns: an amount of USD as it can be stored, never less than it was."""
    return amount.quantize(_UNIT, ROUND_CEILING)


def is_priced(cost: Cost) -> bool:
    """Whether it is known what a model costs: some are known to be free."""
    return cost.is_known


def price_for(usage: Usage, cost: Cost) -> Price:
    """Return the price that holds for a prompt of this size."""
    reached = [tier for tier in cost.tiers if usage.prompt_tokens > tier.above_tokens]
    return max(reached, key=lambda tier: tier.above_tokens).price if reached else cost.base


def dearest_price(cost: Cost, prompt_tokens: int) -> Price:
    """Return the highest of each price that may hold for a prompt of at most this size."""
    reached = [tier.price for tier in cost.tiers if prompt_tokens > tier.above_tokens]
    prices = [cost.base, *reached]
    return Price(
        input=max(one.input for one in prices),
        output=max(one.output for one in prices),
        cache_read=max(one.cache_read for one in prices),
        cache_write=max(one.cache_write for one in prices),
    )
