from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.bounds import LEAST_OUTPUT_TOKENS, Bound, Factors, bound_of
from providers.kinds import ProviderKind
from providers.llm import encode, sent_limit
from providers.llm.facts import Capabilities, Cost, Limit, Price, PriceTier, ServicePrice
from providers.llm.messages import (
    AssistantMessage,
    File,
    Reasoning,
    Text,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from providers.pricing import cost_of
from tests.providers.requests import READ, make_model, make_request
from tests.sessions.runner.vendor import texts_in

PRICE = Price(Decimal(3), Decimal(15), Decimal("0.3"), Decimal("3.75"))
LONG = Price(Decimal(6), Decimal(30), Decimal("0.6"), Decimal("7.5"))
COST = Cost(PRICE, (PriceTier(200_000, LONG),), is_known=True)
REASONS = Capabilities(reasoning=True)
KINDS = st.sampled_from([ProviderKind.OPENAI, ProviderKind.ANTHROPIC, ProviderKind.COMPATIBLE])
_texts = st.text(max_size=300)


def bound(kind: ProviderKind = ProviderKind.OPENAI, **more: Any) -> Bound:
    fields = {"cost": COST, "limit": Limit(output=32_000), **more}
    return bound_of(make_request(make_model(kind, **fields), tools=(READ,)), Factors())


@given(kind=KINDS, texts=st.lists(_texts, max_size=6), output=st.integers(0, 40_000))
def test_no_tokenizer_reads_more_than_the_bound(
    kind: ProviderKind, texts: list[str], output: int
) -> None:
    said = [
        UserMessage((Text("\n".join(texts)),)),
        AssistantMessage((Reasoning("".join(texts)), ToolCall("call_1", "read", {"a": texts}))),
        ToolResultMessage("call_1", "read", "\x00".join(texts), is_error=False),
    ]
    model = make_model(kind, cost=COST, limit=Limit(output=output))
    request = make_request(model, *said, tools=(READ,) * 3, system=tuple(texts))
    found = bound_of(request, Factors())
    wire = encode(request)
    # Each byte a token, and each text in frames of its own.
    read = sum(len(text.encode(errors="replace")) for text in texts_in(wire))
    written = sent_limit(wire) or found.output
    for usage in (Usage(cache_write_tokens=read, output_tokens=written), Usage(read, 0, written)):
        assert cost_of(usage, COST) <= found.cost()


@given(
    amount=st.decimals("0", "3", places=10),
    factors=st.builds(Factors, *[st.decimals("1", "9", places=3)] * 2),
)
def test_a_cut_answer_costs_no_more_than_what_it_is_cut_to(
    amount: Decimal, factors: Factors
) -> None:
    found = replace(bound(), factors=factors)
    output = found.affordable_output(amount + found.cost(found.least_output))
    assert found.least_output <= output <= found.output
    assert found.cost(output) <= amount + found.cost(found.least_output)


def test_the_dearest_price_that_may_hold_counts() -> None:
    long = make_request(make_model(ProviderKind.OPENAI, cost=COST), "x" * 200_001)
    assert bound_of(long, Factors()).price == LONG
    assert bound().price == PRICE


def test_a_picture_counts_by_its_kind_and_not_by_its_bytes() -> None:
    sees = Capabilities(input=frozenset({"text", "image"}))
    tokens = {}
    for kind in (ProviderKind.ANTHROPIC, ProviderKind.OPENAI):
        model = make_model(kind, cost=COST, capabilities=sees, limit=Limit())
        bare = bound_of(make_request(model, "Look."), Factors()).input
        url = f"data:image/png;base64,{'A' * 900_000}"
        shown = UserMessage((Text("Look."), File("image/png", url)))
        tokens[kind] = bound_of(make_request(model, shown), Factors()).input - bare
    # Beside the frames of its message.
    assert abs(tokens[ProviderKind.ANTHROPIC] - 5_000) < 100
    assert abs(tokens[ProviderKind.OPENAI] - 50_000) < 100


def test_thinking_has_its_place_in_the_answer_and_is_billed_unseen(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        (ProviderKind.ANTHROPIC, {}, 4_000, 0),
        (ProviderKind.ANTHROPIC, {"thinking": {"type": "disabled"}}, 4_000, 0),
        (
            ProviderKind.ANTHROPIC,
            {"thinking": {"type": "enabled", "budgetTokens": 9_000}},
            13_000,
            9_000,
        ),
        (ProviderKind.ANTHROPIC, {"thinking": {"type": "adaptive"}}, 4_000, 32_000),
        (ProviderKind.OPENAI, {}, 4_000, 32_000),
        (ProviderKind.OPENAI, {"reasoningEffort": "high"}, 4_000, 32_000),
    ]
    for kind, options, least, hidden in cases:
        with subtests.test(kind=kind, options=options):
            found = bound(kind, options=options, capabilities=REASONS)
            assert (found.least_output, found.hidden) == (least, hidden)


def test_an_answer_that_was_ended_from_here_costs_what_had_come() -> None:
    found = bound()
    assert found.cost_after(1_000) == found.cost(1_500)
    assert found.cost_after(10**9) == found.cost()
    assert found.least_output == LEAST_OUTPUT_TOKENS


def test_what_a_provider_bills_beyond_a_bound_is_learned() -> None:
    found = bound()
    assert found.raised(Usage(found.input, 20_000, 12_000)) is None
    factors = found.raised(Usage(found.input, 48_000))
    assert factors == Factors(Decimal(1), Decimal("1.500"))
    assert replace(found, factors=factors).cost() >= cost_of(Usage(found.input, 48_000), COST)


def test_an_absurd_report_does_not_shut_a_model_for_good() -> None:
    found = bound()
    factors = found.raised(Usage(found.input * 10**9, 48_000))
    assert factors == Factors(Decimal(100), Decimal("1.500"))
    assert replace(found, factors=factors).raised(Usage(found.input * 10**9, 48_000)) is None


@pytest.mark.parametrize("name", ["n", "best_of", "max_tokens", "max_completion_tokens"])
def test_settings_cannot_have_more_billed_than_was_bound(name: str) -> None:
    model = make_model(ProviderKind.COMPATIBLE, limit=Limit(output=500), options={name: 9_999})
    wire = encode(make_request(model))
    assert wire["max_tokens"] == 500
    assert wire.get(name, 500) == 500


def test_the_dearest_tier_that_an_account_may_choose_is_set_apart(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({}, 2),
        ({"serviceTier": "auto"}, 2),
        ({"serviceTier": "priority"}, 2),
        ({"serviceTier": "default"}, 1),
        ({"serviceTier": "flex"}, 1),
    ]
    for options, times in cases:
        with subtests.test(options=options):
            double = Price(*(2 * getattr(PRICE, name) for name in ("input", "output")))
            cost = replace(COST, services=(ServicePrice("priority", double),))
            found = bound(cost=cost, options=options)
            assert found.price.output == times * PRICE.output
            # Only OpenAI leaves it to the settings of the account.
            elsewhere = bound(ProviderKind.COMPATIBLE, cost=cost, options=options)
            asked = options.get("serviceTier") == "priority"
            assert elsewhere.price.output == (2 if asked else 1) * PRICE.output


def test_an_hour_in_the_cache_is_set_apart_where_it_is_asked_for() -> None:
    options: Any = {"cacheControl": {"type": "ephemeral", "ttl": "1h"}}
    found = bound(ProviderKind.ANTHROPIC, options=options)
    assert found.keeps_hour
    usage = Usage(cache_write_tokens=found.input, cache_write_hour_tokens=found.input)
    assert cost_of(usage, COST) == found.cost(0)
    assert not bound(ProviderKind.ANTHROPIC).keeps_hour


def test_a_bill_beyond_the_bound_raises_it() -> None:
    found = bound()
    assert found.raised(Usage(10, 10), found.cost()) is None
    factors = found.raised(Usage(10, 10), 3 * found.cost())
    assert factors == Factors(Decimal(3), Decimal(3))
    assert replace(found, factors=factors).cost() >= 3 * found.cost()
