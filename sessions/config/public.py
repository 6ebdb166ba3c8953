"""Settings as people may read them: values that can be secret are masked, for everybody.

What is not known to be harmless is masked. The mask is understood on the way back, so that settings
can be read, changed and sent as a whole.
"""

from __future__ import annotations

import re
from functools import lru_cache

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue

MASK = "•••"

# Everything below these carries credentials: of MCP servers, providers, models, formatters.
_SECRET_BRANCHES = frozenset(
    {"headers", "env", "environment", "oauth", "auth", "credential", "credentials"}
)
# Options of providers are whatever a client library takes; only these are known to hold no secret.
_PLAIN_OPTIONS = frozenset(
    {
        *("baseURL", "timeout", "chunkTimeout", "headerTimeout", "setCacheKey", "enterpriseUrl"),
        *("region", "project", "location", "resourceName", "apiVersion", "includeUsage", "name"),
    }
)
# Of a model as clients see it.
_OPEN_ENDED = ("options", "headers", "variants")
_RULES = frozenset({"permission", "permissions", "tools"})
_SECRET_NAME = re.compile(
    r"api_?key|access_?key|private_?key|secret|passw|passphrase|credential|authorization|cookie"
    r"|bearer|(?:^|_)(?:key|auth|pat|pwd)$|(?<!max_)token$|_token_",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def public_config(config: JsonObject) -> JsonObject:
    """Returns: a copy in which every value that may be secret is the mask."""
    return {key: _shown((key,), value) for key, value in config.items()}


def public_provider(provider_id: str, wire: JsonObject) -> JsonObject:
    """Returns: a provider as clients are told of it, masked like its block in the settings.

    Of its models only what settings can fill with anything is looked at: there may be thousands.
    """
    models = wire["models"]
    assert isinstance(models, dict)
    others = {key: value for key, value in wire.items() if key != "models"}
    shown = {key: _shown(("provider", provider_id, key), value) for key, value in others.items()}
    return {**shown, "models": {key: _model(provider_id, one) for key, one in models.items()}}


def _model(provider_id: str, wire: JsonValue) -> JsonValue:
    assert isinstance(wire, dict)
    path = ("provider", provider_id, "models", "")
    open_ended = {key: _shown((*path, key), wire[key]) for key in _OPEN_ENDED if wire[key]}
    return {**wire, **open_ended}


def keep_masked(given: JsonObject, stored: JsonObject) -> JsonObject:
    """Returns: what was given, with the stored value wherever it carries the mask.

    A mask for which nothing is stored here is left out: it came from settings below these.
    Raises: Invalid for one in a list, whose other items would move.
    """
    return {
        key: _kept(value, stored.get(key), (key,))
        for key, value in given.items()
        if value != MASK or _is_value(stored.get(key))
    }


def _shown(path: tuple[str, ...], value: JsonValue) -> JsonValue:
    if _is_secret(path):
        return _masked(value, path)
    if isinstance(value, dict):
        return {key: _shown((*path, key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown((*path, ""), item) for item in value]
    return value


def _is_secret(path: tuple[str, ...]) -> bool:
    # The names of providers, agents and servers are chosen by people: they say nothing.
    if len(path) == 2 and path[0] in {"provider", "agent", "mcp", "mode", "command"}:
        return False
    # In rules, tools and patterns are names.
    if not _RULES.isdisjoint((path[0], path[2] if path[0] == "agent" and len(path) > 2 else "")):
        return False
    if path[0] == "provider":
        # Names of variables, not their values.
        if len(path) >= 3 and path[2] == "env":
            return False
        if len(path) == 4 and path[2] == "models":
            return False
        if len(path) == 4 and path[2] == "options" and path[3] not in _PLAIN_OPTIONS:
            return True
    name = path[-1]
    return _is_secret_name(name)


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    return name in _SECRET_BRANCHES or bool(_SECRET_NAME.search(_HUMP.sub("_", name)))


def _masked(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    """Names stay, so that a form shows what is set; nothing else does."""
    if isinstance(value, dict):
        return {key: _masked(item, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, (*path, "")) for item in value]
    # Switches such as `oauth: false` say nothing, and an empty value is no secret.
    return value if isinstance(value, bool) or value in (None, "") else MASK


def _kept(given: JsonValue, stored: JsonValue, path: tuple[str, ...]) -> JsonValue:
    if given == MASK:
        if not _is_value(stored):
            raise Invalid(f"{'.'.join(path)}: {MASK} stands for a stored value, but there is none.")
        return stored
    if isinstance(given, dict):
        known = stored if isinstance(stored, dict) else {}
        return {
            key: _kept(item, known.get(key), (*path, key))
            for key, item in given.items()
            if item != MASK or _is_value(known.get(key))
        }
    if isinstance(given, list):
        items = stored if isinstance(stored, list) else []
        padded = [*items, *[None] * (len(given) - len(items))]
        return [_kept(item, padded[place], (*path, str(place))) for place, item in enumerate(given)]
    return given


def _is_value(stored: JsonValue) -> bool:
    return stored is not None and not isinstance(stored, dict | list)
