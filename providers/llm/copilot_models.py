"""GitHub Copilot's own list of models, in the words of models.dev.

Source: GET /models of Copilot's API, as OpenCode reads it.
"""

from __future__ import annotations

import re
from decimal import Decimal

from .json import JsonObject, JsonValue

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2})$")
# Prices are in hundredths of a cent for so many tokens at once.
_PER_MILLION = Decimal(10_000)
_PRICES = {
    "input_price": "input",
    "output_price": "output",
    "cache_price": "cache_read",
    "cache_write_price": "cache_write",
}


def read_copilot_models(answer: JsonValue) -> dict[str, JsonObject]:
    """Returns: id -> description of each model that a person may choose and call.

    `supported_endpoints` is beside the fields of models.dev: the paths that a model is called at.
    """
    items = _object(answer).get("data")
    found: dict[str, JsonObject] = {}
    for item in items if isinstance(items, list) else ():
        model = _object(item)
        if isinstance(model_id := model.get("id"), str) and _is_offered(model):
            found[model_id] = _describe(model_id, model)
    return found


def _is_offered(model: JsonObject) -> bool:
    capabilities = _object(model.get("capabilities"))
    limits = _object(capabilities.get("limits"))
    return (
        model.get("model_picker_enabled") is True
        and _object(model.get("policy")).get("state") != "disabled"
        and all(isinstance(limits.get(f"max_{name}_tokens"), int) for name in ("output", "prompt"))
        and isinstance(_object(capabilities.get("supports")).get("tool_calls"), bool)
    )


def _describe(model_id: str, model: JsonObject) -> JsonObject:
    capabilities = _object(model.get("capabilities"))
    limits = _object(capabilities.get("limits"))
    supports = _object(capabilities.get("supports"))
    sees = supports.get("vision") is True or _takes_pictures(_object(limits.get("vision")))
    reasoning = _reasoning(supports)
    prompt, output = limits["max_prompt_tokens"], limits["max_output_tokens"]
    window = limits.get("max_context_window_tokens")
    limit: JsonObject = {
        "context": window if isinstance(window, int) else prompt,
        "input": prompt,
        "output": output,
    }
    description: JsonObject = {
        "name": str(model.get("name") or model_id),
        "attachment": sees,
        "reasoning": bool(reasoning) or supports.get("adaptive_thinking") is True,
        "reasoning_options": [*reasoning],
        "tool_call": supports["tool_calls"],
        "structured_output": supports.get("structured_outputs") is True,
        "modalities": {"input": ["text", "image"] if sees else ["text"], "output": ["text"]},
        "limit": limit,
        "supported_endpoints": _paths(model.get("supported_endpoints")),
    }
    if isinstance(family := capabilities.get("family"), str):
        description["family"] = family
    if found := _DATED.search(str(model.get("version"))):
        description["release_date"] = found[1]
    if cost := _cost(_object(_object(model.get("billing")).get("token_prices"))):
        description["cost"] = cost
    return description


def _paths(endpoints: JsonValue) -> list[JsonValue]:
    listed = endpoints if isinstance(endpoints, list) else ()
    return [one for one in listed if isinstance(one, str)]


def _takes_pictures(vision: JsonObject) -> bool:
    media = vision.get("supported_media_types")
    return isinstance(media, list) and any(str(kind).startswith("image/") for kind in media)


def _reasoning(supports: JsonObject) -> list[JsonObject]:
    efforts = supports.get("reasoning_effort")
    if isinstance(efforts, list) and efforts:
        return [{"type": "effort", "values": [str(effort) for effort in efforts]}]
    most = supports.get("max_thinking_budget")
    if not isinstance(most, int):
        return []
    least = supports.get("min_thinking_budget")
    return [
        {"type": "budget_tokens", **({"min": least} if isinstance(least, int) else {}), "max": most}
    ]


def _cost(prices: JsonObject) -> JsonObject:
    batch = prices.get("batch_size")
    if not isinstance(batch, int) or batch <= 0:
        return {}
    base = _object(prices.get("default"))
    cost = _price(base, batch)
    longer, begins = _price(_object(prices.get("long_context")), batch), base.get("context_max")
    if cost and longer and isinstance(begins, int):
        cost["tiers"] = [{**longer, "tier": {"type": "context", "size": begins}}]
    return cost


def _price(prices: JsonObject, batch: int) -> JsonObject:
    return {
        name: float(Decimal(str(value)) * _PER_MILLION / batch)
        for field, name in _PRICES.items()
        if isinstance(value := prices.get(field), int | float) and value >= 0
    }


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
