from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.bounds import Factors, bound_of
from providers.catalog import build_model, catalog_models
from providers.kinds import ProviderKind
from providers.llm.events import Finished, FinishReason
from providers.llm.facts import Cost, Limit, Price, PriceTier, ServicePrice
from providers.llm.messages import Usage
from providers.pricing import charge_for, cost_of, possible_tiers
from teams.models import Basis
from tests.providers.requests import make_model, make_request

BASE = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
LONG = Price(Decimal(6), Decimal("22.5"), Decimal("0.6"), Decimal("7.5"))
LONGER = Price(Decimal(12), Decimal(45), Decimal("1.2"), Decimal(15))
COST = Cost(BASE, (PriceTier(200_000, LONG), PriceTier(500_000, LONGER)))


def test_it_prices_a_turn(subtests: pytest.Subtests) -> None:
    cases = [
        (Usage(), "0"),
        (Usage(1_000, 100), "0.0045"),
        (Usage(0, 0, 100), "0.0015"),
        (Usage(0, 0, 0, 1_000, 1_000), "0.00405"),
        (Usage(200_000, 0), "0.6"),
        (Usage(200_001, 0), "1.200006"),
        (Usage(1, 0, 0, 200_000), "0.120006"),
        (Usage(600_000, 10), "7.20045"),
    ]
    for usage, usd in cases:
        with subtests.test(usd=usd):
            assert cost_of(usage, COST) == Decimal(usd)


def test_a_model_without_a_price_is_free() -> None:
    assert cost_of(Usage(10_000, 10_000), Cost()) == 0


FAST = Price(*(2 * value for value in (BASE.input, BASE.output, BASE.cache_read, BASE.cache_write)))
SERVED = replace(COST, is_known=True, services=(ServicePrice("priority", FAST),))


def test_service_tiers_and_an_hour_in_the_cache_have_prices(subtests: pytest.Subtests) -> None:
    cases = [
        (Usage(1_000, 100), "priority", "0.009"),
        # Long prompts rise with a tier as they do without it.
        (Usage(200_001, 0), "priority", "2.400012"),
        (Usage(1_000, 100), "default", "0.0045"),
        (Usage(1_000, 100), "flex", "0.0045"),
        (Usage(1_000, 100), "fast", "0.027"),
        (Usage(0, 0, 0, 0, 1_000, 600), "", "0.0051"),
        (Usage(0, 0, 0, 0, 1_000, 5_000), "", "0.006"),
    ]
    for usage, tier, usd in cases:
        with subtests.test(tier=tier, usd=usd):
            assert cost_of(usage, SERVED, tier) == Decimal(usd)


def test_an_answer_with_thinking_can_cost_more_as_a_whole() -> None:
    cost = Cost(replace(BASE, reasoning=Decimal(40)), is_known=True)
    assert cost_of(Usage(0, 100), cost) == Decimal("0.0015")
    assert cost_of(Usage(0, 100, 100), cost) == Decimal("0.008")


def test_what_a_provider_says_it_has_billed_counts_before_its_tokens(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({"billed": Decimal("0.5")}, SERVED, "0.5", Basis.BILLED),
        ({"billed": Decimal(0)}, SERVED, "0", Basis.BILLED),
        ({"billed": Decimal("0.5")}, Cost(), "0.5", Basis.BILLED),
        ({}, Cost(), "0", Basis.UNPRICED),
        ({}, SERVED, "0.0045", Basis.COUNTED),
        ({"tier": "priority"}, SERVED, "0.009", Basis.COUNTED),
    ]
    for finished, cost, usd, basis in cases:
        with subtests.test(finished=finished, cost=cost):
            request = make_request(make_model(cost=cost), "Hi")
            charge = charge_for(Finished(FinishReason.STOP, Usage(1_000, 100), **finished), request)
            assert (charge.cost, charge.basis) == (Decimal(usd), basis)


def test_a_tier_counts_as_asked_unless_the_provider_names_another(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({"serviceTier": "priority"}, "", "0.009"),
        ({"service_tier": "priority"}, "default", "0.0045"),
        ({"speed": "fast"}, "", "0.027"),
        # That it was the cheaper one nobody has said.
        ({"serviceTier": "flex"}, "", "0.0045"),
        ({"serviceTier": "flex"}, "flex", "0.00225"),
    ]
    for options, said, usd in cases:
        with subtests.test(options=options, said=said):
            flex = ServicePrice("flex", Price(*(value / 2 for value in (BASE.input, BASE.output))))
            cost = replace(SERVED, services=(*SERVED.services, flex))
            request = make_request(make_model(cost=cost, options=options), "Hi")
            finished = Finished(FinishReason.STOP, Usage(1_000, 100), tier=said)
            assert charge_for(finished, request).cost == Decimal(usd)


def test_the_catalog_says_what_tiers_cost_and_openai_takes_half_for_flex() -> None:
    description = catalog_models("openai")["gpt-5.5"]
    cost = build_model("openai", "m", description, npm="@ai-sdk/openai", base_url="").cost
    prices = {one.name: one.price for one in cost.services}
    assert prices["priority"].input == Decimal("2.5") * cost.base.input
    assert prices["flex"].output == cost.base.output / 2
    opus = catalog_models("anthropic")["claude-opus-5"]
    listed = build_model("anthropic", "m", opus, npm="@ai-sdk/anthropic", base_url="").cost
    assert [one.name for one in listed.services] == ["fast"]


def test_a_tier_is_never_cheaper_than_the_price_in_the_settings() -> None:
    description: Any = {**catalog_models("openai")["gpt-5.5"], "cost": {"input": 90, "output": 90}}
    cost = build_model("openai", "m", description, npm="@ai-sdk/openai", base_url="").cost
    prices = {one.name: one.price for one in cost.services}
    assert prices["priority"].input == 90


_amounts = st.decimals("0", "90", places=3)
_counts = st.integers(0, 40_000)
_price = st.tuples(*[_amounts] * 5)


@st.composite
def costs(draw: Any) -> Cost:
    """Prices that rise with the prompt, as those of all vendors do."""
    base = draw(_price)
    rise = [draw(st.decimals("1", "3", places=1)) for _ in range(2)]
    longs = [Price(*(value * rise[0] for value in base))]
    longs.append(Price(*(getattr(longs[0], name) * rise[1] for name in Price.__slots__)))
    sizes = sorted(draw(st.sets(st.integers(1, 30_000), min_size=2, max_size=2)))
    tiers = tuple(PriceTier(size, one) for size, one in zip(sizes, longs, strict=True))
    services = tuple(
        ServicePrice(
            name, Price(*(value * draw(st.decimals("0.2", "6", places=1)) for value in base))
        )
        for name in draw(st.sets(st.sampled_from(["priority", "flex", "fast"])))
    )
    return Cost(Price(*base), tiers, is_known=True, services=services)


_tiers = st.sampled_from(["", "priority", "flex", "fast", "default", "auto"])
usages = st.builds(Usage, *[_counts] * 6)
_more = st.builds(Usage, *[st.integers(0, 10_000)] * 6)


@given(usages, _more, costs(), _tiers)
def test_more_tokens_never_cost_less(usage: Usage, more: Usage, cost: Cost, tier: str) -> None:
    # Whether the vendor thought, and what it kept for an hour, is the same for both.
    larger = Usage(*(getattr(usage, name) + getattr(more, name) for name in Usage.__slots__))
    if cost.base.cache_read and cost.base.cache_write:
        assert cost_of(larger, cost, tier) >= cost_of(usage, cost, tier)


@given(
    usage=usages,
    cost=costs(),
    asked=_tiers,
    keeps=st.booleans(),
    kind=st.sampled_from([ProviderKind.OPENAI, ProviderKind.ANTHROPIC, ProviderKind.COMPATIBLE]),
    data=st.data(),
)
def test_no_usage_within_the_bound_costs_more_than_it_with_any_tier(
    usage: Usage, cost: Cost, asked: str, keeps: bool, kind: ProviderKind, data: st.DataObject
) -> None:
    options: Any = {"serviceTier": asked} if asked else {}
    if asked == "fast":
        options = {"speed": "fast"}
    if keeps:
        options["cacheControl"] = {"type": "ephemeral", "ttl": "1h"}
    model = make_model(kind, cost=cost, options=options, limit=Limit(output=800_000))
    bound = bound_of(make_request(model, "x" * 130_000), Factors())
    assert usage.prompt_tokens <= bound.input
    if not bound.keeps_hour:
        usage = replace(usage, cache_write_hour_tokens=0)
    written = (
        min(usage.output_tokens, bound.output // 2),
        min(usage.reasoning_tokens, bound.output // 2),
    )
    usage = replace(usage, output_tokens=written[0], reasoning_tokens=written[1])
    tier = data.draw(st.sampled_from(sorted(possible_tiers(make_request(model, "x")))))
    assert cost_of(usage, cost, tier) <= bound.cost()
    finished = Finished(FinishReason.STOP, usage, tier=tier)
    assert charge_for(finished, make_request(model, "x")).cost <= bound.cost()
