"""What families of models want when nobody says otherwise.

Source: what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re

from ..json import JsonObject
from ..messages import ProviderRequest, ResolvedModel
from .ids import claude_version, is_claude, takes_thinking_level

# The same cache for the requests of one session. By SDK package.
_KEYED = frozenset(
    {"@ai-sdk/openai", "@ai-sdk/azure", "@ai-sdk/xai", "@ai-sdk/mistral", "@ai-sdk/cerebras",
     "@ai-sdk/deepinfra", "venice-ai-sdk-provider"}
)  # fmt: skip
_MANTLE = "@ai-sdk/amazon-bedrock/mantle"
_UNSTORED = frozenset(
    {"@ai-sdk/openai", "@ai-sdk/azure", "@ai-sdk/xai", "@ai-sdk/github-copilot", _MANTLE}
)
_GPT_5 = re.compile(r"gpt-5(?!-chat|-pro)")
_TERSE = re.compile(r"gpt-5\.\d+(?!.*(?:codex|chat))")
# Told to think by the template of the server.
_TEMPLATED = re.compile(r"kimi-k2-thinking|glm-4\.6")
# Not Claude, and on its wire.
_ADAPTIVE = re.compile(r"minimax-m3|kimi|k2p")
_ENCRYPTED = "reasoning.encrypted_content"


def default_options(request: ProviderRequest) -> JsonObject:
    """Returns: options of the call by provider, SDK package and model id.

    A title gets only what keeps its content from being stored.
    """
    model = request.model
    options: JsonObject = {"store": False} if model.npm in _UNSTORED else {}
    if model.npm == "@ai-sdk/azure" and request.purpose == "title":
        options = {}
    if _returns_encrypted(model):
        options["include"] = [_ENCRYPTED]
    if request.purpose == "title":
        return options
    wanted = model.connection.get("setCacheKey", "true" if model.npm in _KEYED else "false")
    if wanted == "true":
        options["promptCacheKey"] = request.session_id
    return {**options, **_of_provider(model), **_of_family(model)}


def _returns_encrypted(model: ResolvedModel) -> bool:
    if model.npm == "@ai-sdk/xai":
        return True
    return (
        model.npm in {"@ai-sdk/openai", "@ai-sdk/azure", _MANTLE} and model.capabilities.reasoning
    )


def _of_provider(model: ResolvedModel) -> JsonObject:
    options: JsonObject = {}
    if model.npm == "@openrouter/ai-sdk-provider":
        options["usage"] = {"include": True}
        if takes_thinking_level(model.api_model):
            options["reasoning"] = {"effort": "high"}
    if model.ref.provider_id.startswith(("zai", "zhipuai")):
        options["thinking"] = {"type": "enabled", "clear_thinking": False}
    name = model.api_model.lower()
    is_qwen = model.ref.provider_id == "alibaba-cn" and model.capabilities.reasoning
    if is_qwen and "kimi-k2-thinking" not in name:
        options["enable_thinking"] = True
    if model.ref.provider_id in {"baseten", "opencode"} and _TEMPLATED.search(name):
        options["chat_template_args"] = {"enable_thinking": True}
    return options


def _of_family(model: ResolvedModel) -> JsonObject:
    name, npm = model.api_model, model.npm
    if not model.capabilities.reasoning:
        return {}
    if npm in {"@ai-sdk/google", "@ai-sdk/google-vertex"}:
        config: JsonObject = {"includeThoughts": True}
        if takes_thinking_level(name):
            config["thinkingLevel"] = "high"
        return {"thinkingConfig": config}
    if is_claude(name) and claude_version(name) >= (5, 1) and not npm.startswith("@openrouter"):
        return {"thinking": {"type": "adaptive", "blockBinding": BINDING}}
    if npm == "@ai-sdk/anthropic" and (found := _ADAPTIVE.search(name.lower())):
        effort: JsonObject = {} if found[0] == "minimax-m3" else {"effort": "high"}
        return {"thinking": {"type": "adaptive"}, **effort}
    if _GPT_5.search(name):
        return _of_gpt_5(model)
    return {}


# How thinking is bound to its place, from Claude 5.1 on.
BINDING: JsonObject = {"prefixMismatchBehavior": "drop_block"}


def _of_gpt_5(model: ResolvedModel) -> JsonObject:
    options: JsonObject = {"reasoningEffort": "medium"}
    if model.npm in {"@ai-sdk/openai", "@ai-sdk/azure", "@ai-sdk/github-copilot"}:
        options["reasoningSummary"] = "auto"
    if model.npm == "@ai-sdk/openai" and _TERSE.search(model.api_model):
        options["textVerbosity"] = "low"
    return options
