"""The options of one call: what its family wants by default, then what the settings say.

They are in the vocabulary of opencode.json, which is that of the AI SDK: camel case, one flat
object. Protocols name them as their wire does.
"""

from __future__ import annotations

from collections.abc import Mapping

from .families.defaults import default_options
from .json import JsonObject
from .limits import OUTPUT_OPTIONS
from .messages import ProviderRequest

# Of the connection; whoever resolves a model reads them, and no body has them.
CONNECTION_OPTIONS = frozenset(
    {"apiKey", "baseURL", "enterpriseUrl", "setCacheKey", "timeout", "headerTimeout",
     "chunkTimeout", "headers", "fetch", "name", "region", "profile", "endpoint", "accessKeyId",
     "secretAccessKey", "sessionToken", "accessToken", "project", "location", "resourceName",
     "apiVersion", "useCompletionUrls", "googleAuthOptions", "compatibility", "organization",
     "accountId", "gatewayId", "account", "role", "instanceUrl"}
)  # fmt: skip
# What may be said once for all models of a provider; anything else there is of its connection.
SHARED_OPTIONS = frozenset(
    {"reasoningEffort", "reasoningSummary", "textVerbosity", "serviceTier", "parallelToolCalls",
     "thinking", "effort", "thinkingConfig", "reasoningConfig", "cacheControl", "promptCacheKey",
     "seed", "store", "include", "metadata", "user", "safetySettings", "reasoning", "usage",
     "provider", "models", "transforms", "top_k", "topK", "temperature"}
)  # fmt: skip
# They would override what the request itself says, or have more than one answer billed.
RESERVED_OPTIONS = frozenset(
    {"model", "messages", "input", "contents", "stream", "stream_options", "tools", "toolChoice",
     "tool_choice", "n", "best_of", "system", "instructions", *OUTPUT_OPTIONS}
)  # fmt: skip

# They have another model called, or one beside it.
# Source: openrouter.ai/docs, "Model Routing", "Plugins", "Presets"; docs.litellm.ai, "Fallbacks".
_OTHER_MODELS = frozenset({"model", "models", "route", "plugins", "preset", "fallbacks"})
# They say who serves it, too, in blocks that vary by gateway.
# Source: openrouter.ai/docs, "Provider Routing"; vercel.com/docs/ai-gateway, "Provider Options".
_ROUTING_OPTIONS = _OTHER_MODELS | {"provider", "provideroptions", "gateway", "extra_body"}
# Servers written in Go take the names of fields in any case, and the last one counts.
_RESERVED_IN_ANY_CASE = frozenset(name.lower() for name in RESERVED_OPTIONS)


def without_routing(options: JsonObject) -> JsonObject:
    """Returns: the options that leave the choice of what is called to the account's holder."""
    return {key: value for key, value in options.items() if key.lower() not in _ROUTING_OPTIONS}


def without_other_models(options: JsonObject) -> JsonObject:
    """Returns: the options, blocks in them too, that have the model called that is asked for."""
    return {
        key: without_other_models(value) if isinstance(value, dict) else value
        for key, value in options.items()
        if key.lower() not in _OTHER_MODELS
    }


def options_of(request: ProviderRequest) -> JsonObject:
    """Returns: every option of the call that a protocol may use."""
    given = {**default_options(request), **request.model.options}
    return {
        key: value
        for key, value in given.items()
        if key not in CONNECTION_OPTIONS
        and key.lower() not in _RESERVED_IN_ANY_CASE
        and value is not None
    }


def service_of(request: ProviderRequest) -> str:
    """Returns: the service tier or the speed that a call asks for by name; "" for none."""
    options = options_of(request)
    named = (options.get(name) for name in ("speed", "serviceTier", "service_tier"))
    return next((one.lower() for one in named if isinstance(one, str) and one), "")


def renamed(
    options: JsonObject, names: Mapping[str, str], *, keep_unknown: bool = False
) -> JsonObject:
    """Returns: the options as the wire names them; others stay as they are, or are left out."""
    return {
        names.get(key, key): value
        for key, value in options.items()
        if key in names or (keep_unknown and key not in names.values())
    } | {key: value for key, value in options.items() if key in names.values()}
