"""What a subscription that somebody has signed in with gives instead of the API's models."""

from __future__ import annotations

import re

from opencode_web.lib.json import JsonObject

_GPT = re.compile(r"gpt-(\d+)\.(\d+)")
_AFTER = (5, 4)
_NAMED = frozenset({"gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex-spark"})
_LIMIT_OF_5_5: JsonObject = {"context": 400_000, "input": 272_000, "output": 128_000}
_FREE: JsonObject = {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}


def on_plan(provider_id: str, catalog: dict[str, JsonObject]) -> dict[str, JsonObject]:
    """Returns: the models of a provider that its plan has, at no price of their own.

    Source: what OpenCode 1.18 offers on a ChatGPT plan.
    """
    if provider_id != "openai":
        return catalog
    return {
        key: {**one, "cost": _FREE, **({"limit": _LIMIT_OF_5_5} if "gpt-5.5" in key else {})}
        for key, one in catalog.items()
        if key in _NAMED or _is_later(key)
    }


def _is_later(model_id: str) -> bool:
    found = _GPT.match(model_id)
    return found is not None and (int(found[1]), int(found[2])) > _AFTER
