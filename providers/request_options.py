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
# They would override what the request itself says.
_RESERVED = frozenset({"model", "messages", "stream", "stream_options", "tools", "tool_choice"})


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
