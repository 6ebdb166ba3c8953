from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from providers.llm import encode
from providers.llm.messages import (
    AssistantMessage,
    File,
    SystemMessage,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from tests.providers.llm.talk import PDF, PNG, READ, ask, model, request
from tests.providers.llm.vendors import WIRES, Step

LONE = "a\ud83d b"
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
COMPATIBLE = "@ai-sdk/openai-compatible"


def body(npm: str, name: str, provider: str = "own", **fields: Any) -> Any:
    called = model(npm, name, provider, base_url="https://vendor.test/v1", **fields)
    said = AssistantMessage((Text("I look."), ToolCall("c1", "read", {"path": "a"})))
    result = ToolResultMessage("c1", "read", "alpha")
    return encode(request(called, "Look.", said, result, "And?"))


async def test_half_a_character_reaches_no_wire(subtests: pytest.Subtests) -> None:
    for name in WIRES:
        with subtests.test(name=name):
            wire = WIRES[name]
            vendor: Any = wire.play(Step(text="Done."))
            tool = ToolDefinition(
                "look", LONE, {"type": "object", "properties": {"p": {"enum": [LONE]}}}
            )
            asked = request(
                wire.model(),
                UserMessage((Text(LONE), replace(PDF, name=LONE))),
                AssistantMessage((Text(LONE), ToolCall("call000000", "look", {LONE: [LONE]}))),
                ToolResultMessage(
                    "call000000", "look", LONE, files=(File(PNG.mime, PNG.data_url, LONE),)
                ),
                SystemMessage(LONE),
                tools=(READ, tool),
            )
            asked = replace(asked, system=(LONE,))
            assert (await ask(asked, vendor)).text == "Done."
            assert "\ufffd" in json.dumps(vendor.bodies[0], ensure_ascii=False)
            assert "\\ud83d" not in vendor.requests[0].content.decode()


def test_claude_behind_a_compatible_server_is_marked_for_the_cache(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        (COMPATIBLE, "claude-sonnet-4-5", True),
        (COMPATIBLE, "anthropic/claude-opus-4.7", True),
        ("@ai-sdk/gateway", "anthropic/claude-sonnet-4.5", True),
        ("@ai-sdk/alibaba", "qwen3-coder", True),
        (COMPATIBLE, "qwen3-coder", False),
        ("@ai-sdk/groq", "claude-of-nobody", False),
    ]
    for npm, name, is_marked in cases:
        with subtests.test(npm=npm, name=name):
            sent = body(npm, name)
            marked = [one for one in sent["messages"] if "cache_control" in json.dumps(one)]
            assert [one["role"] for one in marked] == (
                ["system", "tool", "user"] if is_marked else []
            )
            if is_marked:
                assert marked[0]["content"] == [
                    {"type": "text", "text": "You help.", "cache_control": MARK}
                ]
                assert marked[1]["cache_control"] == MARK


@pytest.mark.parametrize("npm", [COMPATIBLE, "@openrouter/ai-sdk-provider"])
def test_marks_may_last_an_hour_or_be_left_out(npm: str) -> None:
    hour = json.dumps(body(npm, "claude-sonnet-4-5", options={"cacheControl": HOUR}))
    assert hour.count('"ttl": "1h"') == hour.count('"cache_control"') == 3
    none = json.dumps(body(npm, "claude-sonnet-4-5", options={"cacheControl": False}))
    assert "cache" not in none


@pytest.mark.parametrize(
    "npm", [COMPATIBLE, "@ai-sdk/deepseek", "@ai-sdk/togetherai", "@ai-sdk/deepinfra"]
)
def test_deepseek_has_its_thinking_in_every_message(npm: str) -> None:
    said = body(npm, "deepseek-ai/DeepSeek-V4-Pro")["messages"][2]
    assert said["reasoning_content"] == ""
    assert "reasoning_content" not in body(COMPATIBLE, "qwen3-max")["messages"][2]


def test_kimi_takes_nothing_beside_a_reference_and_one_kind_of_items() -> None:
    schema = {
        "type": "object",
        "properties": {
            "one": {"$ref": "#/$defs/x", "description": "Gone."},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
            "items": {"type": "array", "items": {"type": "string"}},
            "none": {"type": "array", "items": []},
        },
        "$defs": {"x": {"type": "string"}},
    }
    tool = ToolDefinition("look", "Look.", schema)  # type: ignore[arg-type]

    def offered(name: str, provider: str) -> Any:
        called = model(COMPATIBLE, name, provider, base_url="https://vendor.test")
        sent: Any = encode(request(called, "Hi", tools=(tool,)))
        return sent["tools"][0]["function"]["parameters"]

    for name, provider in (("kimi-k2.6", "own"), ("anything", "moonshotai")):
        properties = offered(name, provider)["properties"]
        assert properties["one"] == {"$ref": "#/$defs/x"}
        assert properties["pair"]["items"] == {"type": "string"}
        assert properties["items"] == {"type": "array", "items": {"type": "string"}}
        assert properties["none"]["items"] == {}
    assert offered("qwen3-max", "own") == schema


def test_what_families_want(subtests: pytest.Subtests) -> None:
    cases = [
        (COMPATIBLE, "qwen3-max", "alibaba-cn", "enable_thinking", True),
        (COMPATIBLE, "qwen3-max", "alibaba", "enable_thinking", None),
        (COMPATIBLE, "kimi-k2-thinking", "alibaba-cn", "enable_thinking", None),
        (COMPATIBLE, "zai-org/GLM-4.6", "baseten", "chat_template_args", {"enable_thinking": True}),
        ("venice-ai-sdk-provider", "x", "venice", "prompt_cache_key", "ses_1"),
        ("@ai-sdk/anthropic", "MiniMax-M3", "minimax", "thinking", {"type": "adaptive"}),
        ("@ai-sdk/anthropic", "kimi-k3", "kimi-for-coding", "output_config", {"effort": "high"}),
        ("@ai-sdk/anthropic", "MiniMax-M2.5", "minimax", "thinking", None),
        (COMPATIBLE, "north-mini-code-1.0", "own", "temperature", 1),
    ]
    for npm, name, provider, field, value in cases:
        with subtests.test(name=name, provider=provider):
            assert body(npm, name, provider).get(field) == value


@pytest.mark.parametrize(("wanted", "key"), [("false", None), ("true", "ses_1")])
def test_the_key_of_the_cache_can_be_left_out_and_added(wanted: str, key: Any) -> None:
    for npm in ("@ai-sdk/openai", COMPATIBLE):
        sent = body(npm, "gpt-5.4", connection={"setCacheKey": wanted})
        assert sent.get("prompt_cache_key") == key


def test_others_on_claudes_wire_get_no_tools_that_come_early() -> None:
    assert "eager_input_streaming" in body("@ai-sdk/anthropic", "claude-sonnet-4-5")["tools"][0]
    assert "eager_input_streaming" not in body("@ai-sdk/anthropic", "MiniMax-M3")["tools"][0]
