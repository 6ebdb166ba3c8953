from __future__ import annotations

from typing import Any

import httpx
import pytest

from providers.llm import encode
from providers.llm.errors import BadRequest
from providers.llm.json import JsonObject
from providers.llm.messages import ToolDefinition
from tests.providers.llm import servers_converse, servers_messages
from tests.providers.llm.servers_chat import _ChatServer, call, delta
from tests.providers.llm.talk import READ, ask, go_on, model, request

CLOSED: JsonObject = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["total", "items", "note"],
    "additionalProperties": False,
}
ANSWER = ToolDefinition("StructuredOutput", "Answers.", CLOSED, fits_exactly=True)
OWN = model("@ai-sdk/openai-compatible", "kimi-k3", base_url="https://vendor.test/v1")
# As these vendors say it.
WORDS = [
    "tool_choice 'required' is incompatible with thinking enabled",
    "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being "
    "set to required or object in thinking mode",
    "deepseek-reasoner does not support this tool_choice",
    "This model doesn't support the toolConfig.toolChoice.any field. Remove it and try again.",
    "Thinking may not be enabled when tool_choice forces tool use.",
    "Forced function calling (mode = ANY) with response mime type is unsupported.",
]


class Unforced(_ChatServer):
    """Thinks, and does not let itself be made to call something."""

    def __init__(self, words: str, *answers: Any) -> None:
        super().__init__(*answers)
        self.words = words

    def wrong(self, body: Any) -> str:
        return self.words if body.get("tool_choice") == "required" else ""

    def error(self, message: str) -> Any:
        return {"error": {"message": message, "type": "invalid_request_error"}}


def answered() -> Any:
    return [delta("tool_calls", tool_calls=[call(0, "c1", "{}", name="StructuredOutput")])]


async def test_a_call_that_cannot_be_demanded_is_asked_for(subtests: pytest.Subtests) -> None:
    for words in WORDS:
        with subtests.test(words=words):
            vendor = Unforced(words, answered())
            asked = request(OWN, "Sum.", tools=(READ, ANSWER), tool_choice="required")
            answer = await ask(asked, vendor)
            assert [one.name for one in answer.calls] == ["StructuredOutput"]
            assert [body["tool_choice"] for body in vendor.bodies] == ["required", "auto"]
            assert {**vendor.bodies[0], "tool_choice": ""} == {
                **vendor.bodies[1],
                "tool_choice": "",
            }


async def test_it_is_asked_once_more_and_not_again() -> None:
    class Never(Unforced):
        def wrong(self, body: Any) -> str:
            return self.words

    vendor = Never(WORDS[0])
    failed = (await ask(request(OWN, "Sum.", tool_choice="required"), vendor)).failed
    assert isinstance(failed.error, BadRequest)
    assert len(vendor.bodies) == 2


async def test_another_refusal_is_final() -> None:
    vendor = httpx.MockTransport(
        lambda _: httpx.Response(400, json={"error": {"message": "Unknown parameter: 'x'"}})
    )
    failed = (await ask(request(OWN, "Sum.", tool_choice="required"), vendor)).failed
    assert failed.error.message == "Unknown parameter: 'x'"


async def test_claude_thinks_and_gives_its_answer_by_a_call() -> None:
    of = servers_messages
    vendor = of.MessagesServer()
    vendor.answer(of.thinking("Hm.", "sig"), of.call("toolu_1", path="a"), stop="tool_use")
    vendor.answer(of.thinking("So.", "sig2"), of.call("toolu_2", "StructuredOutput"))
    options = {"thinking": {"type": "enabled", "budgetTokens": 2000}}
    claude = model("@ai-sdk/anthropic", "claude-sonnet-4-5", "anthropic", options=options)
    first = request(claude, "Sum.", tools=(READ, ANSWER), tool_choice="required")
    second = await ask(go_on(first, await ask(first, vendor)), vendor)
    assert [one.name for one in second.calls] == ["StructuredOutput"]
    assert [body["thinking"]["budget_tokens"] for body in vendor.bodies] == [2000, 2000]


async def test_claude_on_bedrock_too() -> None:
    of = servers_converse
    vendor = of.ConverseServer()
    vendor.answer(of.thinking("Hm.", "sig"), of.call("toolu_1", path="a"), stop="tool_use")
    vendor.answer(of.thinking("So.", "sig2"), of.call("toolu_2", "StructuredOutput"))
    options = {"thinking": {"type": "enabled", "budgetTokens": 2000}}
    claude = model(
        "@ai-sdk/amazon-bedrock",
        "anthropic.claude-sonnet-4-5",
        connection={"region": "us-east-1"},
        options=options,
    )
    first = request(claude, "Sum.", tools=(READ, ANSWER), tool_choice="required")
    second = await ask(go_on(first, await ask(first, vendor)), vendor)
    assert [one.name for one in second.calls] == ["StructuredOutput"]
    assert [body["toolConfig"]["toolChoice"] for body in vendor.bodies] == [{"auto": {}}] * 2


EXACT = {
    ("@ai-sdk/openai", "gpt-5.4"): True,
    ("@ai-sdk/azure", "gpt-5.4"): True,
    ("@ai-sdk/anthropic", "claude-sonnet-4-5"): True,
    ("@ai-sdk/anthropic", "claude-3-5-haiku"): False,
    ("@ai-sdk/google-vertex/anthropic", "claude-sonnet-4-5"): False,
    ("@ai-sdk/openai-compatible", "own"): False,
}


def told(wire: tuple[str, str], tool: ToolDefinition) -> bool:
    place = {"resourceName": "acme", "project": "p", "location": "global"}
    called = model(*wire, base_url="https://vendor.test/v1", connection=place)
    tools: Any = encode(request(called, "Sum.", tools=(READ, tool)))["tools"]
    assert not tools[0].get("strict")
    return bool(tools[1].get("strict"))


def test_a_vendor_that_can_holds_the_model_to_the_schema(subtests: pytest.Subtests) -> None:
    for wire, can in EXACT.items():
        with subtests.test(wire=wire):
            assert told(wire, ANSWER) is can


def test_an_open_schema_is_asked_for_and_checked_afterwards(subtests: pytest.Subtests) -> None:
    others = [
        {**CLOSED, "additionalProperties": True},
        {**CLOSED, "required": ["total"]},
        {**CLOSED, "properties": {**CLOSED["properties"], "total": {"minimum": 1}}},  # type: ignore[dict-item]
        {"type": "object", "properties": {}},
        {**CLOSED, "$defs": {}},
        {**CLOSED, "properties": {"total": {"type": "array"}}, "required": ["total"]},
    ]
    for wire in [wire for wire, can in EXACT.items() if can]:
        for schema in others:
            with subtests.test(wire=wire, schema=schema):
                assert (
                    told(wire, ToolDefinition("StructuredOutput", "", schema, fits_exactly=True))
                    is False
                )
