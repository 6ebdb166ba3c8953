from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from providers.llm.errors import ServerError
from providers.llm.messages import ResolvedModel
from providers.llm.model_list import MAX_MODELS, clean_list, list_models
from providers.llm.sign_in import Http
from tests.providers.llm.conversation import model_of

TIMEOUT_S = 120.0


class Drip(httpx.AsyncByteStream):
    """A body that comes byte by byte."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for byte in self.body:
            yield bytes([byte])


class Host(httpx.AsyncBaseTransport):
    """Answers every request with one text."""

    def __init__(self, body: str, *, drips: bool = False) -> None:
        self.body = body.encode()
        self.drips = drips

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        stream = Drip(self.body) if self.drips else httpx.ByteStream(self.body)
        return httpx.Response(200, stream=stream, request=request)


def compatible() -> ResolvedModel:
    return model_of("@ai-sdk/openai-compatible", "own", "m", base_url="https://own.example/v1")


def copilot() -> ResolvedModel:
    return model_of(
        "@ai-sdk/github-copilot",
        "github-copilot",
        "gpt-5.4",
        base_url="https://api.githubcopilot.com",
        connection={"supported_endpoints": "/responses"},
    )


async def listed(model: ResolvedModel, host: Host) -> dict[str, Any]:
    return await list_models(model, Http(host, timeout_s=TIMEOUT_S))


async def test_a_list_in_a_million_blocks_is_read_in_the_time_of_its_bytes() -> None:
    body = json.dumps({"data": [{"id": "m", "owned_by": "x" * 1_000_000}]})
    begun = time.perf_counter()
    assert [*await listed(compatible(), Host(body, drips=True))] == ["m"]
    # Measured: 0.4 s, and a minute where each block has all earlier ones copied.
    assert time.perf_counter() - begun < 10


async def test_a_price_that_is_none_is_left_out(subtests: pytest.Subtests) -> None:
    for price in ["1e999", "NaN", "-Infinity", "9" * 400, "1e308", "-1", '"1"']:
        with subtests.test(price=price):
            prices = (
                f'{{"batch_size": 1, "default": {{"input_price": {price}, "output_price": 2.5}}}}'
            )
            limits = '{"max_output_tokens": 64000, "max_prompt_tokens": 200000}'
            capabilities = f'{{"limits": {limits}, "supports": {{"tool_calls": true}}}}'
            item = (
                f'{{"id": "gpt-5.4", "model_picker_enabled": true, "capabilities": {capabilities}, '
                f'"supported_endpoints": ["/responses", {{"a": {price}}}], '
                f'"billing": {{"token_prices": {prices}}}}}'
            )
            found = (await listed(copilot(), Host(f'{{"data": [{item}]}}')))["gpt-5.4"]
            assert found["cost"] == {"output": 25_000.0}
            assert found["limit"] == {"context": 200_000, "input": 200_000, "output": 64_000}
            assert found["supported_endpoints"] == ["/responses"]


async def test_a_list_in_many_levels_is_none() -> None:
    deep = '{"data": [{"id": "m", "architecture": {"input_modalities": ' + "[" * 200 + "]" * 200
    with pytest.raises(ServerError):
        await listed(compatible(), Host(deep + "}}]}"))


def test_what_is_kept_of_a_list_can_be_shown_and_stored() -> None:
    texts = {"name": "G\0P\ud800T\u202e" + "x" * 1_000, "reasoning_options": ["\n"] * 1_000}
    many: Any = {f"m-{number}": texts for number in range(MAX_MODELS + 1)}
    kept = clean_list({"bad\0": {}, "": {}, "x" * 201: {}, **many})
    assert (len(kept), "m-0" in kept, "bad\0" in kept) == (MAX_MODELS, True, False)
    name = str(kept["m-0"]["name"])
    assert (name[:4], name.isprintable(), len(name) <= 500) == ("GPTx", True, True)
    assert kept["m-0"]["reasoning_options"] == [""] * 100
