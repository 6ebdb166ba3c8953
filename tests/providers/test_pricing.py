from __future__ import annotations

from decimal import Decimal

import pytest

from providers.llm.facts import Cost, Price, PriceTier
from providers.llm.messages import Usage
from providers.pricing import cost_of

BASE = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
LONG = Price(Decimal(6), Decimal("22.5"), Decimal("0.6"), Decimal("7.5"))
LONGER = Price(Decimal(12), Decimal(45), Decimal("1.2"), Decimal(15))
COST = Cost(BASE, (PriceTier(200_000, LONG), PriceTier(500_000, LONGER)))


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(), "0"),
        (Usage(1_000, 100), "0.0045"),
        (Usage(0, 0, 100), "0.0015"),
        (Usage(0, 0, 0, 1_000, 1_000), "0.00405"),
        (Usage(200_000, 0), "0.6"),
        (Usage(200_001, 0), "1.200006"),
        (Usage(1, 0, 0, 200_000), "0.120006"),
        (Usage(600_000, 10), "7.20045"),
    ],
)
def test_it_prices_a_turn(usage: Usage, usd: str) -> None:
    assert cost_of(usage, COST) == Decimal(usd)


def test_a_model_without_a_price_is_free() -> None:
    assert cost_of(Usage(10_000, 10_000), Cost()) == 0
