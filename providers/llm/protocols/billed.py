"""What vendors say that they have billed for an answer, each in its own field of the usage.

Only of vendors that are known to mean US dollars: what any other server says there could as well
be credits, and a zero would let a budget never end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

Billed = Callable[[Mapping[str, Any]], Decimal | None]

_TICKS_PER_USD = Decimal(10) ** 10
# No single answer costs more; a server that says so is wrong. Units: USD.
_MOST = Decimal(10_000)


def not_said(_usage: Mapping[str, Any]) -> Decimal | None:
    """Returns: nothing; tokens are counted."""
    return None


def of_openrouter(usage: Mapping[str, Any]) -> Decimal | None:
    """Returns: USD. With a key of one's own the cost is OpenRouter's fee alone.

    Source: https://openrouter.ai/docs/use-cases/usage-accounting
    """
    cost = _amount(usage, "cost")
    if cost is None or not usage.get("is_byok"):
        return cost
    upstream = _amount(usage.get("cost_details"), "upstream_inference_cost")
    # Without the larger part the sum is not known.
    return None if upstream is None else cost + upstream


def of_perplexity(usage: Mapping[str, Any]) -> Decimal | None:
    """Returns: USD; with what a search costs beside the tokens.

    Source: https://docs.perplexity.ai/api-reference/chat-completions-post
    """
    return _amount(usage.get("cost"), "total_cost")


def of_xai(usage: Mapping[str, Any]) -> Decimal | None:
    """Returns: USD, after all discounts.

    Source: https://docs.x.ai/developers/cost-tracking
    """
    return _amount(usage, "cost_in_usd_ticks", per_usd=_TICKS_PER_USD)


def _amount(fields: object, name: str, *, per_usd: Decimal = Decimal(1)) -> Decimal | None:
    value = fields.get(name) if isinstance(fields, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(str(value)) / per_usd if 0 <= value <= _MOST * per_usd else None
