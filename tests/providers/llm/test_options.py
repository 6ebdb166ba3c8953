from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from providers.llm import encode, unused_options
from providers.llm.connection import build
from providers.llm.messages import ResolvedModel
from providers.llm.options import CONNECTION_OPTIONS, RESERVED_OPTIONS
from providers.llm.route import known_adapters, route_of
from providers.llm.secret import Secret
from tests.providers.llm.talk import model, request

OPENAI = ("@ai-sdk/openai", "gpt-5.4")
AZURE = ("@ai-sdk/azure", "gpt-5.4")
XAI = ("@ai-sdk/xai", "grok-4.3")
COPILOT = ("@ai-sdk/github-copilot", "gpt-5.4")
ANTHROPIC = ("@ai-sdk/anthropic", "claude-sonnet-4-5")
VERTEX_CLAUDE = ("@ai-sdk/google-vertex/anthropic", "claude-sonnet-4-5")
BEDROCK = ("@ai-sdk/amazon-bedrock", "anthropic.claude-sonnet-4-5")
NOVA = ("@ai-sdk/amazon-bedrock", "amazon.nova-2-lite-v1:0")
GOOGLE = ("@ai-sdk/google", "gemini-3-pro")
COHERE = ("@ai-sdk/cohere", "command-a")
MISTRAL = ("@ai-sdk/mistral", "mistral-medium-3.5")
GROQ = ("@ai-sdk/groq", "openai/gpt-oss-120b")
OPENROUTER = ("@openrouter/ai-sdk-provider", "openai/gpt-5.4")
OWN = ("@ai-sdk/openai-compatible", "own")
WATSONX = ("watsonx-ai-provider", "ibm/granite-4-h-small")
SAP = ("@jerome-benoit/sap-ai-provider-v2", "gpt-4o")
HOUR = {"type": "ephemeral", "ttl": "1h"}
BUDGET = {"type": "enabled", "budgetTokens": 2000}
PLACE = {"region": "us-east-1", "project": "p", "location": "global", "resourceName": "acme"}

# wire, option, its value, where it is in the body and as what.
PASSED: list[tuple[tuple[str, str], str, Any, str, Any]] = [
    (OPENAI, "reasoningEffort", "high", "reasoning.effort", "high"),
    (OPENAI, "reasoningSummary", "detailed", "reasoning.summary", "detailed"),
    (OPENAI, "textVerbosity", "high", "text.verbosity", "high"),
    (OPENAI, "serviceTier", "flex", "service_tier", "flex"),
    (OPENAI, "store", True, "store", True),
    (OPENAI, "include", ["file_search_call.results"], "include", ["file_search_call.results"]),
    (OPENAI, "metadata", {"a": "b"}, "metadata", {"a": "b"}),
    (OPENAI, "user", "u-1", "user", "u-1"),
    (OPENAI, "parallelToolCalls", False, "parallel_tool_calls", False),
    (OPENAI, "promptCacheKey", "k", "prompt_cache_key", "k"),
    (OPENAI, "promptCacheRetention", "24h", "prompt_cache_retention", "24h"),
    (OPENAI, "maxOutputTokens", 99, "max_output_tokens", 99),
    (AZURE, "reasoningSummary", "detailed", "reasoning.summary", "detailed"),
    (AZURE, "metadata", {"a": "b"}, "metadata", {"a": "b"}),
    (XAI, "reasoningEffort", "high", "reasoning.effort", "high"),
    (XAI, "user", "u-1", "user", "u-1"),
    (COPILOT, "reasoningEffort", "high", "reasoning.effort", "high"),
    (ANTHROPIC, "metadata", {"userId": "u-1"}, "metadata.user_id", "u-1"),
    (ANTHROPIC, "serviceTier", "standard_only", "service_tier", "standard_only"),
    (ANTHROPIC, "cacheControl", HOUR, "system.0.cache_control", HOUR),
    (ANTHROPIC, "thinking", BUDGET, "thinking.budget_tokens", 2000),
    (ANTHROPIC, "effort", "low", "output_config.effort", "low"),
    (ANTHROPIC, "parallelToolCalls", False, "tool_choice.disable_parallel_tool_use", True),
    (ANTHROPIC, "maxTokens", 99, "max_tokens", 99),
    (VERTEX_CLAUDE, "cacheControl", HOUR, "system.0.cache_control", HOUR),
    (BEDROCK, "cacheControl", HOUR, "system.1.cachePoint.ttl", "1h"),
    (BEDROCK, "thinking", BUDGET, "additionalModelRequestFields.thinking.budget_tokens", 2000),
    (BEDROCK, "serviceTier", "priority", "serviceTier.type", "priority"),
    (
        NOVA,
        "reasoningConfig",
        {"type": "enabled", "maxReasoningEffort": "low"},
        "additionalModelRequestFields.reasoningConfig.maxReasoningEffort",
        "low",
    ),
    (
        GOOGLE,
        "thinkingConfig",
        {"thinkingLevel": "low"},
        "generationConfig.thinkingConfig.thinkingLevel",
        "low",
    ),
    (GOOGLE, "safetySettings", [{"category": "c"}], "safetySettings.0.category", "c"),
    (GOOGLE, "serviceTier", "flex", "serviceTier", "flex"),
    (GOOGLE, "seed", 7, "generationConfig.seed", 7),
    (COHERE, "thinking", {"type": "enabled", "tokenBudget": 9}, "thinking.token_budget", 9),
    (COHERE, "seed", 7, "seed", 7),
    (MISTRAL, "reasoningEffort", "high", "reasoning_effort", "high"),
    (MISTRAL, "safePrompt", True, "safe_prompt", True),
    (MISTRAL, "parallelToolCalls", False, "parallel_tool_calls", False),
    (GROQ, "reasoningFormat", "parsed", "reasoning_format", "parsed"),
    (GROQ, "serviceTier", "flex", "service_tier", "flex"),
    (GROQ, "user", "u-1", "user", "u-1"),
    (OPENROUTER, "reasoning", {"effort": "low"}, "reasoning.effort", "low"),
    (OPENROUTER, "provider", {"only": ["x"]}, "provider.only", ["x"]),
    (OPENROUTER, "serviceTier", "flex", "service_tier", "flex"),
    (OWN, "reasoningEffort", "high", "reasoning_effort", "high"),
    (OWN, "metadata", {"a": "b"}, "metadata", {"a": "b"}),
    (OWN, "chat_template_kwargs", {"think": False}, "chat_template_kwargs.think", False),
    (WATSONX, "reasoningEffort", "low", "reasoning_effort", "low"),
    (SAP, "maxTokens", 99, "max_tokens", 99),
]
UNUSED: list[tuple[tuple[str, str], str, Any]] = [
    (OPENAI, "cacheControl", HOUR),
    (OPENAI, "strictJsonSchema", True),
    (OPENAI, "thinkingConfig", {"thinkingLevel": "low"}),
    (OPENAI, "whatever", 1),
    (ANTHROPIC, "reasoningEffort", "high"),
    (ANTHROPIC, "textVerbosity", "low"),
    (ANTHROPIC, "whatever", 1),
    (GOOGLE, "structuredOutputs", True),
    (GOOGLE, "reasoningEffort", "high"),
    (GOOGLE, "metadata", {"a": "b"}),
    (COHERE, "reasoningEffort", "high"),
    (MISTRAL, "structuredOutputs", True),
    (GROQ, "metadata", {"a": "b"}),
    (XAI, "serviceTier", "flex"),
    (COPILOT, "whatever", 1),
    (WATSONX, "whatever", 1),
    (OWN, "instructions", "Be nice."),
    (OWN, "timeout", 1000),
    (OWN, "setCacheKey", True),
]


def of(wire: tuple[str, str], **options: Any) -> ResolvedModel:
    npm, name = wire
    return model(npm, name, provider="own", options=options, connection=PLACE)


def at(body: Any, path: str) -> Any:
    for step in path.split("."):
        body = body[int(step)] if isinstance(body, list) else body.get(step)
        if body is None:
            break
    return body


def test_an_option_is_in_its_place(subtests: pytest.Subtests) -> None:
    for wire, option, value, path, sent in PASSED:
        with subtests.test(wire=wire, option=option):
            called = of(wire, **{option: value})
            assert at(encode(request(called, "Hello")), path) == sent
            assert unused_options(called) == []


def test_an_option_that_changes_nothing_is_found(subtests: pytest.Subtests) -> None:
    for wire, option, value in UNUSED:
        with subtests.test(wire=wire, option=option):
            called = of(wire, **{option: value})
            assert unused_options(called) == [option]
            assert encode(request(called, "Hello")) == encode(request(of(wire), "Hello"))


def test_nothing_of_the_connection_is_ever_in_a_body(subtests: pytest.Subtests) -> None:
    for npm in known_adapters():
        with subtests.test(npm=npm):
            names = [*CONNECTION_OPTIONS, *RESERVED_OPTIONS - {"n"}, "Model", "STREAM"]
            options = {name: f"secret of {name}" for name in names}
            called = replace(
                of((npm, "gpt-4o"), **options),
                base_url="https://vendor.test",
                secrets={"duoToken": Secret("token-of-tests")},
            )
            assert "secret of" not in json.dumps(encode(request(called, "Hello")))
            asked = request(replace(called, api_key=of((npm, "m")).api_key), "Hello")
            if npm != SAP[0]:
                assert b"secret of" not in build(asked, route_of(asked)).content


def test_a_default_that_is_said_again_has_an_effect() -> None:
    assert unused_options(of(OPENAI, store=False, reasoningSummary="auto")) == []


def test_nothing_is_said_of_a_model_that_cannot_be_called() -> None:
    assert unused_options(of(("no-such-package", "m"), whatever=1)) == []


def test_openai_is_told_whose_usage_it_is() -> None:
    connection = {"organization": "org-1", "project": "proj_1"}
    asked = request(model(*OPENAI, provider="openai", connection=connection), "Hello")
    headers = build(asked, route_of(asked)).headers
    assert headers["openai-organization"] == "org-1"
    assert headers["openai-project"] == "proj_1"
