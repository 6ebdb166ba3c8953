from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.providers.llm.servers_chat import delta, usage
from tests.providers.llm.talk import ask, model, request, sse


def server(*frames: Any) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: sse(*frames))


PERPLEXITY_COST = {"input_tokens_cost": 0.001, "request_cost": 0.005, "total_cost": 0.0061}


@pytest.mark.parametrize(
    ("npm", "cost", "billed"),
    [
        ("@ai-sdk/perplexity", PERPLEXITY_COST, Decimal("0.0061")),
        ("@ai-sdk/perplexity", 0.1, None),
        # It may mean credits, and a zero would be free for ever.
        ("@ai-sdk/openai-compatible", 0, None),
        ("@ai-sdk/groq", 0.5, None),
    ],
)
async def test_only_vendors_that_are_known_to_mean_dollars_are_believed(
    npm: str, cost: Any, billed: Decimal | None
) -> None:
    told = usage(cost=cost)
    asked = request(model(npm, "m", base_url="https://vendor.example/v1"), "Hi", tools=())
    answer = await ask(asked, server(delta(content="Hi"), delta("stop"), told))
    assert answer.finished.billed == billed


@pytest.mark.parametrize("count", [10**9, 10**40, -1, True, "7", 1.5])
async def test_a_number_of_tokens_that_cannot_be_is_none(count: Any) -> None:
    asked = request(
        model("@ai-sdk/groq", "m", base_url="https://vendor.example/v1"), "Hi", tools=()
    )
    told = usage(prompt_tokens=count, completion_tokens=count)
    answer = await ask(asked, server(delta(content="Hi"), delta("stop"), told))
    assert answer.finished.usage.total_tokens == 0


async def test_the_service_tier_that_answered_is_told() -> None:
    frames = [{**delta(content="Hi"), "service_tier": "flex"}, delta("stop"), usage()]
    asked = request(model("@ai-sdk/openai-compatible", "m", base_url="https://v.example/v1"), "Hi")
    assert (await ask(asked, server(*frames))).finished.tier == "flex"
