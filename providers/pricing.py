"""Tokens to money."""

from __future__ import annotations

from decimal import Decimal

from providers.facts import Cost, Price
from providers.messages import ProviderRequest, Usage
from providers.tokens import estimate_request

_PER = Decimal(1_000_000)
# Most answers are shorter, and what a model may write at most is many times this.
EXPECTED_OUTPUT = 4_000


def cost_of(usage: Usage, cost: Cost) -> Decimal:
    """Price one provider turn.

    Units: USD. Reasoning is charged as output.
    Source: how OpenCode prices; the largest tier that the prompt exceeds sets every price of the
    turn.
    """
    price = price_for(usage, cost)
    total = (
        usage.input_tokens * price.input
        + (usage.output_tokens + usage.reasoning_tokens) * price.output
        + usage.cache_read_tokens * price.cache_read
        + usage.cache_write_tokens * price.cache_write
    )
    return total / _PER


def is_priced(cost: Cost) -> bool:
    """Whether it is known what a model costs: one that is free cannot be told from others."""
    return bool(cost.base.input or cost.base.output)


def price_for(usage: Usage, cost: Cost) -> Price:
    """Return the price that holds for a prompt of this size."""
    reached = [tier for tier in cost.tiers if usage.prompt_tokens > tier.above_tokens]
    return max(reached, key=lambda tier: tier.above_tokens).price if reached else cost.base


def estimate_cost(request: ProviderRequest) -> Decimal:
    """What a provider turn will cost at most, unless its answer is unusually long.

    Units: USD; 0 where no price is known. Nothing is taken to be in the provider's cache.
    """
    model = request.model
    bounds = (EXPECTED_OUTPUT, request.max_output_tokens, model.limit.output)
    output = min(bound for bound in bounds if bound)
    usage = Usage(input_tokens=estimate_request(request), output_tokens=output)
    return cost_of(usage, model.cost)
