from __future__ import annotations

from typing import Any

import pytest

from providers.llm import encode
from providers.llm.messages import (
    AssistantMessage,
    Message,
    Reasoning,
    ResolvedModel,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from providers.llm.secret import Secret
from tests.providers.llm import judges
from tests.providers.llm.talk import PDF, PNG, READ, model, request

CLAUDE = "claude-sonnet-4-5"
CALLS = (ToolCall("call_1", "read", {"path": "a"}), ToolCall("call_2", "read", {"path": "b"}))
RESULTS = (
    ToolResultMessage("call_1", "read", "alpha"),
    ToolResultMessage("call_2", "read", "It is not there.", is_error=True),
)
VENDORS = [
    ("@ai-sdk/openai-compatible", "plain", judges.judge_chat, {}),
    ("@ai-sdk/openai", "gpt-5.4", judges.judge_responses, {"reasoningEffort": "high"}),
    ("@ai-sdk/openai", "gpt-4o", judges.judge_responses, {}),
    ("@ai-sdk/azure", "gpt-5.4", judges.judge_responses, {}),
    ("@ai-sdk/anthropic", CLAUDE, judges.judge_messages, {}),
    ("@ai-sdk/anthropic", CLAUDE, judges.judge_messages,
     {"thinking": {"type": "enabled", "budgetTokens": 2000}}),
    ("@ai-sdk/anthropic", "claude-opus-4-7", judges.judge_messages,
     {"thinking": {"type": "adaptive"}, "effort": "high"}),
    ("@ai-sdk/google", "gemini-2.5-pro", judges.judge_gemini,
     {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 2000}}),
    ("@ai-sdk/google", "gemini-3-pro-preview", judges.judge_gemini, {}),
    ("@ai-sdk/amazon-bedrock", f"anthropic.{CLAUDE}-v1:0", judges.judge_converse, {}),
    ("@ai-sdk/amazon-bedrock", "amazon.nova-2-lite-v1:0", judges.judge_converse, {}),
]  # fmt: skip


def connected(npm: str, name: str, **fields: Any) -> ResolvedModel:
    place = {"resourceName": "acme", "region": "us-east-1"}
    keys = {"accessKeyId": Secret("AKIADUMMY"), "secretAccessKey": Secret("dummy")}
    return model(npm, name, connection=place, secrets=keys, **fields)


def conversation(npm: str) -> tuple[Message, ...]:
    thought = {
        "@ai-sdk/openai": {"encrypted_content": "enc", "id": "rs_1"},
        "@ai-sdk/google": {"thoughtSignature": "c2ln"},
    }.get(npm, {"signature": "c2ln"})
    return (
        UserMessage((Text("What is it?"), PNG, PDF)),
        AssistantMessage((Reasoning("Hm.", {"vendor": thought}), Text("I look."), *CALLS)),
        *RESULTS,
        AssistantMessage((Text("It is alpha."),)),
        UserMessage((Text("Sure?"),)),
    )


def test_the_sdk_of_a_vendor_takes_what_it_is_sent(subtests: pytest.Subtests) -> None:
    for choice in ["auto", "required"]:
        for npm, name, judge, options in VENDORS:
            with subtests.test(name=name, options=options, choice=choice):
                asked = request(
                    connected(npm, name, options=options),
                    *conversation(npm),
                    tools=(READ,),
                    temperature=0.3,
                    tool_choice=choice,
                )
                judge(encode(asked))


def test_the_sdk_of_a_vendor_takes_a_request_without_tools(subtests: pytest.Subtests) -> None:
    for npm, name, judge, options in VENDORS:
        with subtests.test(name=name, options=options):
            judge(encode(request(connected(npm, name, options=options), "Hello", tools=())))


def test_a_judge_refuses_what_its_vendor_does_not_know(subtests: pytest.Subtests) -> None:
    cases = [
        (judges.judge_chat, {"model": "m", "stream": True, "messages": [{"role": "clerk"}]}),
        (judges.judge_responses, {"model": "m", "stream": True, "input": [{"type": "thought"}]}),
        (judges.judge_messages, {"model": "m", "stream": True, "max_tokens": 1,
                                 "messages": [{"role": "user", "content": [{"type": "song"}]}]}),
        (judges.judge_gemini, {"contents": [{"role": "user", "parts": [{"song": "la"}]}]}),
        (judges.judge_converse, {"messages": [{"role": "user", "content": [{"song": "la"}]}]}),
        (judges.judge_chat, {"model": "m", "stream": True, "messages": [], "mood": "good"}),
    ]  # fmt: skip
    for judge, body in cases:
        with subtests.test(body=body), pytest.raises((AssertionError, ValueError)):
            judge(body)
