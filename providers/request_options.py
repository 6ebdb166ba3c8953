"""Model request options: from the shape people write in opencode.json to arguments of the call.

opencode.json carries the options of the AI SDK, in camel case. Known ones are named as litellm
names them; of the unknown ones, an OpenAI-compatible server gets them in its request body and the
two named providers do not get them.
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, JsonValue
from providers.facts import ProviderKind

_KNOWN = {
    "reasoningEffort": "reasoning_effort",
    "reasoning_effort": "reasoning_effort",
    "textVerbosity": "verbosity",
    "verbosity": "verbosity",
    "serviceTier": "service_tier",
    "service_tier": "service_tier",
    "parallelToolCalls": "parallel_tool_calls",
    "parallel_tool_calls": "parallel_tool_calls",
    "seed": "seed",
    "topK": "top_k",
    "top_k": "top_k",
    "thinking": "thinking",
}
# Options of the connection; `resolve.py` has read what it needs of them.
CONNECTION_OPTIONS = frozenset(
    {"apiKey", "baseURL", "enterpriseUrl", "setCacheKey", "timeout", "headerTimeout",
    "chunkTimeout",
     "headers", "fetch", "name"}
)  # fmt: skip
# What different wires call the longest answer that is wanted.
_OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
# They would override what the request itself says, or have more than one answer billed.
_RESERVED = frozenset(
    {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "n", "best_of",
     *_OUTPUT_LIMITS}
)  # fmt: skip


def output_option(options: JsonObject) -> int | None:
    """Returns: the longest answer that the settings want. Units: tokens."""
    given = (options.get(name) for name in _OUTPUT_LIMITS)
    return min((one for one in given if isinstance(one, int) and one > 0), default=None)


def split_options(options: JsonObject, *, kind: ProviderKind) -> tuple[JsonObject, JsonObject]:
    """Returns: (arguments of the call, extra fields of the request body)."""
    known: JsonObject = {}
    extra: JsonObject = {}
    for key, value in options.items():
        if key in CONNECTION_OPTIONS or key in _RESERVED or value is None:
            continue
        if key in _KNOWN:
            known[_KNOWN[key]] = _thinking(value) if key == "thinking" else value
        elif kind is ProviderKind.COMPATIBLE:
            extra[key] = value
    return known, extra


def _thinking(value: JsonValue) -> JsonValue:
    if isinstance(value, dict) and "budgetTokens" in value:
        rest = {key: item for key, item in value.items() if key != "budgetTokens"}
        return {**rest, "budget_tokens": value["budgetTokens"]}
    return value
