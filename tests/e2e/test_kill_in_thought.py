from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, text_of, wait_for
from tests.providers.llm import servers_messages as of
from tests.providers.llm.front import on_a_port

pytestmark = [pytest.mark.e2e, pytest.mark.deep]
MODEL = {"providerID": "signed", "modelID": "claude-sonnet-4-5"}


class Vendor(of.MessagesServer):
    """Signs its thinking and knows it again. Its second answer stops in the middle of a thought."""

    def __init__(self) -> None:
        super().__init__()
        self.answer(
            of.thinking("A list first.", "sig-1"), of.call("toolu_1", "list"), stop="tool_use"
        )
        self.answers.append(self._half())  # type: ignore[arg-type]
        self.answer(of.thinking("There it is.", "sig-3"), of.text("All is there."))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if "tools" not in json.loads(request.content):
            frames = of.frames_of((of.text("A title"),), stop="end_turn")
            return httpx.Response(200, content=of.write(frames))
        return await super().handle_async_request(request)

    async def _half(self) -> AsyncIterator[bytes]:
        whole = of.frames_of((of.thinking("Half a thought", "sig-2"),), stop="end_turn")
        yield of.write(whole[:4])
        await asyncio.sleep(120)


def test_a_turn_that_is_killed_while_it_thinks_goes_on_with_what_is_signed(
    mortal: Installation,
) -> None:
    vendor = Vendor()
    with on_a_port(vendor) as url, mortal.client() as client:
        model: dict[str, Any] = {
            "name": "Claude",
            "reasoning": True,
            "limit": {"context": 200_000, "output": 64_000},
            "options": {"thinking": {"type": "enabled", "budgetTokens": 2000}},
        }
        block = {
            "npm": "@ai-sdk/anthropic",
            "options": {"baseURL": url, "apiKey": "key-of-tests-01"},
            "models": {MODEL["modelID"]: model},
        }
        assert (
            client.patch("/global/config", json={"provider": {"signed": block}}).status_code == 200
        )
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body("Look.", MODEL))

        def thoughts() -> list[str]:
            messages = client.get(f"/session/{session}/message").json()
            return [p["text"] for m in messages for p in m["parts"] if p["type"] == "reasoning"]

        wait_for(lambda: "Half a thought" in thoughts())
        mortal.kill_worker()
        if mortal.is_embedded:
            mortal.start()
        wait_for(lambda: client.get("/session/status").json() == {}, seconds=40)
        messages = client.get(f"/session/{session}/message").json()
    assert text_of(messages[-1]) == "All is there."
    said = [b for m in vendor.bodies[-1]["messages"] for b in m["content"]]
    assert [b["signature"] for b in said if b["type"] == "thinking"] == ["sig-1"]
    assert "Half a thought" not in json.dumps(vendor.bodies[-1])
