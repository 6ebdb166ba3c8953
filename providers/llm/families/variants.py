"""The variants of a model: how hard it thinks, and what says so to its provider.

Where the catalog lists what a model takes (`reasoning_options`), that decides the names; else the
rules of its family hold. Source: what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..facts import ModelFacts
from ..json import JsonObject, JsonValue
from ..limits import MAX_OUTPUT_TOKENS
from .defaults import BINDING
from .ids import claude_version, gemini_version, is_claude, takes_thinking_level

_LOW_TO_HIGH = ("low", "medium", "high")
_RESPONSES = frozenset({"@ai-sdk/openai", "@ai-sdk/azure", "@ai-sdk/amazon-bedrock/mantle"})
_BUDGETS = {"high": 16_000, "max": 31_999}
# Vendors that are told a budget otherwise than Claude and Gemini, and how.
_OPENROUTER = "@openrouter/ai-sdk-provider"
_COPILOT = "@ai-sdk/github-copilot"
_COHERE = "@ai-sdk/cohere"
# Its wire has no word for how hard a model is to think, whatever the catalog lists.
_PERPLEXITY = "@ai-sdk/perplexity"
# SDK package (any if empty), words in the model's id, efforts; the first that fits counts.
_EFFORTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", r"gpt-6", ("none", *_LOW_TO_HIGH, "xhigh", "max")),
    ("", r"gpt-5\.[12]-codex|gpt-5-codex", (*_LOW_TO_HIGH, "xhigh")),
    ("", r"gpt-5\.(?:[2-9]|\d\d)", ("none", *_LOW_TO_HIGH, "xhigh")),
    ("", r"gpt-5\.1", ("none", *_LOW_TO_HIGH)),
    ("", r"gpt-5", ("minimal", *_LOW_TO_HIGH)),
    ("@ai-sdk/mistral", r"^(?!magistral).*medium", ("none", "high")),
    ("@ai-sdk/mistral", r"", ()),
    ("@ai-sdk/xai", r"grok-4\.3", ("none", *_LOW_TO_HIGH)),
    ("@ai-sdk/xai", r"", ()),
    ("@ai-sdk/groq", r"qwen", ("none", "default", *_LOW_TO_HIGH)),
    ("", r"deepseek-v4|deepseek-flash|deepseek-pro", ("low", "high", "max")),
    ("", r"gemini-[3-9].*flash", ("minimal", *_LOW_TO_HIGH)),
    ("", r"kimi|k2p|glm|qwen|minimax|deepseek|magistral|gemini-2", ()),
    ("", r"", _LOW_TO_HIGH),
)
_GEMINI = frozenset({"@ai-sdk/google", "@ai-sdk/google-vertex"})
# Claude behind a wire that is not its own.
_CHAT_WITH_CLAUDE = frozenset({_OPENROUTER, "@ai-sdk/openai-compatible", _COPILOT})


def variants_of(model: ModelFacts) -> dict[str, JsonObject]:
    """Returns: name of a variant -> options of the call, weakest first; often none."""
    if not model.capabilities.reasoning or model.npm == _PERPLEXITY:
        return {}
    listed = _listed(model)
    return _of_family(model, model.api_model.lower()) if listed is None else listed


def _of_family(model: ModelFacts, name: str) -> dict[str, JsonObject]:
    if model.npm == _COHERE:
        return _of_cohere(_BUDGETS)
    if is_claude(name) and model.npm not in _CHAT_WITH_CLAUDE:
        return _of_claude(model, name)
    if gemini_version(name) and model.npm in _GEMINI:
        return _of_gemini(name)
    if model.npm == "@ai-sdk/amazon-bedrock":
        return _of_nova(name)
    return {effort: _effort(model, effort) for effort in _efforts(model.npm, name)}


def _efforts(npm: str, name: str) -> tuple[str, ...]:
    fitting = (
        efforts
        for package, words, efforts in _EFFORTS
        if package in {"", npm} and re.search(words, name)
    )
    return next(fitting)


def _effort(model: ModelFacts, effort: str) -> JsonObject:
    if model.npm == _OPENROUTER:
        return {"reasoning": {"effort": effort}}
    if model.npm in _RESPONSES:
        include: list[JsonValue] = ["reasoning.encrypted_content"]
        return {"reasoningEffort": effort, "reasoningSummary": "auto", "include": include}
    return {"reasoningEffort": effort}


def _of_claude(model: ModelFacts, name: str) -> dict[str, JsonObject]:
    version = claude_version(name)
    if version >= (4, 6):
        return _adaptive(model, version)
    if "opus" in name and version == (4, 5):
        return {
            effort: {**_thinking(model, _BUDGETS["high"]), "effort": effort}
            for effort in _LOW_TO_HIGH
        }
    return {effort: _thinking(model, budget) for effort, budget in _BUDGETS.items()}


def _adaptive(model: ModelFacts, version: tuple[int, int]) -> dict[str, JsonObject]:
    thinking: JsonObject = {"type": "adaptive"}
    efforts: tuple[str, ...] = (*_LOW_TO_HIGH, "max")
    if version >= (4, 7):
        thinking["display"] = "summarized"
        efforts = (*_LOW_TO_HIGH, "xhigh", "max")
    if version >= (5, 1):
        thinking["blockBinding"] = BINDING
    return {effort: {"thinking": thinking, "effort": effort} for effort in efforts}


def _thinking(model: ModelFacts, budget: int) -> JsonObject:
    most = model.limit.output
    fitting = min(budget, most - 1) if most else budget
    return {"thinking": {"type": "enabled", "budgetTokens": fitting}}


def _of_gemini(name: str) -> dict[str, JsonObject]:
    if takes_thinking_level(name):
        levels = ("minimal", *_LOW_TO_HIGH) if "flash" in name else _LOW_TO_HIGH
        return {
            level: {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": level}}
            for level in levels
        }
    budgets = {"high": 12_288, "max": 24_576} if "flash" in name else _BUDGETS
    return {effort: _gemini_budget(budget) for effort, budget in budgets.items()}


def _gemini_budget(budget: int) -> JsonObject:
    return {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": budget}}


def _of_nova(name: str) -> dict[str, JsonObject]:
    if "nova-2" not in name:
        return {}
    return {
        effort: {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
        for effort in _LOW_TO_HIGH
    }


def _of_cohere(budgets: Mapping[str, int]) -> dict[str, JsonObject]:
    off: JsonObject = {"thinking": {"type": "disabled"}}
    on: dict[str, JsonObject] = {
        effort: {"thinking": {"type": "enabled", "tokenBudget": budget}}
        for effort, budget in budgets.items()
    }
    return {"none": off, **on}


def _listed(model: ModelFacts) -> dict[str, JsonObject] | None:
    """Returns: what the catalog lists; None where it does not say, as by a toggle alone."""
    options = model.reasoning_options
    if options is None:
        return None
    # A list of efforts is finer than the budgets that some models take as well.
    for option in options:
        values = option.get("values")
        if option.get("type") == "effort" and isinstance(values, list):
            return {str(value): _listed_effort(model, str(value)) for value in values if value}
    for option in options:
        if option.get("type") == "budget_tokens":
            return _listed_budgets(model, _fitting(model, option))
    return None if options else {}


def _listed_effort(model: ModelFacts, effort: str) -> JsonObject:
    name = model.api_model.lower()
    if model.npm in _GEMINI:
        return {"thinkingConfig": {"includeThoughts": True, "thinkingLevel": effort}}
    if is_claude(name) and model.npm not in _CHAT_WITH_CLAUDE:
        found = _of_claude(model, name).get(effort)
        return found or {"effort": effort}
    if model.npm == "@ai-sdk/amazon-bedrock":
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
    return _effort(model, effort)


def _fitting(model: ModelFacts, option: JsonObject) -> dict[str, int]:
    """Returns: half of the largest budget and the largest, as far as the answer has room."""
    least, most = option.get("min"), option.get("max")
    top = min(most if isinstance(most, int) else MAX_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS)
    room = min(MAX_OUTPUT_TOKENS, model.limit.output or MAX_OUTPUT_TOKENS) - 1
    half = max(top // 2, least if isinstance(least, int) else 0)
    return {"high": min(half, room), "max": min(top, room)}


def _listed_budgets(model: ModelFacts, budgets: Mapping[str, int]) -> dict[str, JsonObject] | None:
    """Returns: None for a wire that has no word for a budget."""
    if model.npm == _COHERE:
        return _of_cohere(budgets)
    if is_claude(model.api_model) and model.npm not in _CHAT_WITH_CLAUDE:
        return {name: _thinking(model, budget) for name, budget in budgets.items()}
    if model.npm in _GEMINI:
        return {name: _gemini_budget(budget) for name, budget in budgets.items()}
    if model.npm == _OPENROUTER:
        return {name: {"reasoning": {"max_tokens": budget}} for name, budget in budgets.items()}
    if model.npm == _COPILOT:
        return {name: {"thinking_budget": budget} for name, budget in budgets.items()}
    return None
