"""What a server says that it serves, in the words of models.dev as far as it says anything.

A list is asked for as a model would be called: at the same address, with the same credential.
Sources: the vendors' references of `GET /models`; what vLLM, Groq, Mistral and OpenRouter add.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

import httpx

from .classify import Answer, classify
from .connection import own_headers
from .copilot_models import read_copilot_models
from .errors import RefusedRequest, ServerError
from .json import JsonObject, JsonValue, is_deep
from .messages import ProviderRequest, ResolvedModel
from .route import Route, route_of
from .sign_in.http import Http
from .texts import gettext_noop

# OpenRouter's list has half a megabyte.
MAX_LIST_BYTES = 4 * 1024 * 1024
MAX_MODELS = 2_000
MAX_ID_CHARS = 200
_MAX_TEXT_CHARS = 500
_MAX_ITEMS = 100
# What every reader of JSON takes for the same number, and more than anything costs or holds.
_LARGEST = 2**53
_NO_LIST = gettext_noop("This provider does not list its models. Enter their names.")
_NOT_HERE = gettext_noop(
    "No model list was found at this address. Check the address, or enter the model names."
)
_MISSING = frozenset({httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED})
_NOT_A_LIST = gettext_noop("The server responded, but not with a list of models.")
_CALLS = ("/chat/completions", "/responses", "/v1/messages", "/messages")
_ANTHROPIC = "@ai-sdk/anthropic"
_GOOGLE = "@ai-sdk/google"
_COPILOT = "@ai-sdk/github-copilot"
_PER_MILLION = 1_000_000
# What servers call the same thing, the most exact first.
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length",
             "max_context_window_tokens", "inputTokenLimit")  # fmt: skip
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "outputTokenLimit")
_PRICES = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cache_read",
    "input_cache_write": "cache_write",
}


async def list_models(model: ResolvedModel, http: Http) -> dict[str, JsonObject]:
    """Ask the server of a model for all that it has; which model it is does not matter.

    Returns: id -> description in the fields of models.dev; often no more than a name.
    Raises: ProviderError, classified; UnknownAdapter. RefusedRequest where nothing can be asked.
    """
    request = _request(model)
    secrets = (model.api_key, *model.secrets.values())
    try:
        answer = await http.send(request, max_bytes=MAX_LIST_BYTES)
    except (httpx.HTTPError, OSError) as exc:
        raise classify(exc, answer=Answer(), secrets=secrets, now=datetime.now(UTC)) from exc
    if answer.status_code in _MISSING:
        raise RefusedRequest(_NOT_HERE, status_code=answer.status_code)
    if answer.status_code != httpx.codes.OK:
        raise classify(None, answer=answer, secrets=secrets, now=datetime.now(UTC))
    try:
        listed: JsonValue = json.loads(
            answer.body, parse_constant=_number, parse_int=_number, parse_float=_number
        )
    except (ValueError, RecursionError) as exc:
        raise ServerError(_NOT_A_LIST) from exc
    if not isinstance(listed, dict | list) or is_deep(listed):
        raise ServerError(_NOT_A_LIST)
    return read_copilot_models(listed) if model.npm == _COPILOT else read_models(listed)


def clean_list(listed: dict[str, JsonObject]) -> dict[str, JsonObject]:
    """Returns: as many models as are kept, with ids and texts that can be shown and stored."""
    kept = [key for key in listed if _is_id(key)][:MAX_MODELS]
    return {key: {name: _clean(one) for name, one in listed[key].items()} for key in kept}


def _clean(value: JsonValue) -> JsonValue:
    """Descriptions are written here: only their texts and lists are as long as a server likes."""
    match value:
        case str():
            return "".join(char for char in value[:_MAX_TEXT_CHARS] if char.isprintable())
        case list():
            return [_clean(one) for one in value[:_MAX_ITEMS]]
        case dict():
            return {name: _clean(one) for name, one in value.items()}
    return value


def _number(text: str) -> int | float | None:
    """Returns: None for what no database stores or no price can be reckoned with."""
    number = float(text)
    if not math.isfinite(number) or abs(number) > _LARGEST:
        return None
    return int(text) if text.lstrip("-").isdigit() else number


def _request(model: ResolvedModel) -> httpx.Request:
    if model.connection.get("chatgpt_account"):
        raise RefusedRequest(_NO_LIST)
    route = route_of(ProviderRequest(model, (), (), (), session_id=""))
    headers = {name.lower(): value for name, value in route.headers.items()} | own_headers(model)
    if model.npm == _ANTHROPIC:
        headers["anthropic-version"] = "2023-06-01"
    sent = {name: value for name, value in headers.items() if value}
    request = httpx.Request("GET", _address(model, route), headers=sent)
    route.auth(request)
    return request


def _address(model: ResolvedModel, route: Route) -> str:
    """Raises: RefusedRequest."""
    url = httpx.URL(route.url)
    if model.npm == _GOOGLE:
        base = url.path.partition("/models/")[0]
        return str(url.copy_with(path=f"{base}/models", params={"pageSize": "1000"}))
    for call in _CALLS:
        # Copilot's list is not below the version that Anthropic's wire has there.
        if call == "/v1/messages" and model.npm != _COPILOT:
            continue
        if url.path.endswith(call):
            at = url.copy_with(path=url.path.removesuffix(call) + "/models")
            return str(at.copy_merge_params({"limit": "1000"}) if model.npm == _ANTHROPIC else at)
    raise RefusedRequest(_NO_LIST)


def read_models(answer: JsonValue) -> dict[str, JsonObject]:
    """Returns: id -> description, from the list of a server that is like OpenAI's or Google's."""
    listed = answer
    if isinstance(answer, dict):
        listed = answer.get("data", answer.get("models"))
    if not isinstance(listed, list):
        raise ServerError(_NOT_A_LIST)
    return dict(_described(item) for item in listed[:MAX_MODELS] if _id_of(item) and _chats(item))


def _id_of(item: JsonValue) -> str:
    found = item.get("id") or item.get("name") if isinstance(item, dict) else None
    text = found.removeprefix("models/") if isinstance(found, str) else ""
    return text if _is_id(text) else ""


def _is_id(text: str) -> bool:
    return 0 < len(text) <= MAX_ID_CHARS and text.isprintable()


def _chats(item: JsonValue) -> bool:
    """Google, Mistral and OpenRouter say of a model whether it answers in text."""
    assert isinstance(item, dict)
    methods = item.get("supportedGenerationMethods")
    if isinstance(methods, list):
        return "generateContent" in methods
    outputs = _object(item.get("architecture")).get("output_modalities")
    if isinstance(outputs, list):
        return "text" in outputs
    return _object(item.get("capabilities")).get("completion_chat") is not False


def _described(item: JsonValue) -> tuple[str, JsonObject]:
    assert isinstance(item, dict)
    model_id = _id_of(item)
    names = (item.get(name) for name in ("display_name", "displayName", "name"))
    name = next((one for one in names if isinstance(one, str) and one), model_id)
    served = {**item, **_object(item.get("top_provider"))}
    places = (served, item)
    limit: JsonObject = {
        field: number
        for field, words in (("context", _CONTEXTS), ("output", _OUTPUTS))
        if (number := next(_numbers(places, words), 0))
    }
    found: JsonObject = {"name": name.removeprefix("models/"), **_abilities(item)}
    if limit:
        found["limit"] = limit
    if cost := _cost(_object(item.get("pricing"))):
        found["cost"] = cost
    return model_id, found


def _numbers(places: tuple[JsonObject, ...], words: tuple[str, ...]) -> Iterator[int]:
    for place in places:
        for word in words:
            if isinstance(number := place.get(word), int) and number > 0:
                yield number


def _abilities(item: JsonObject) -> JsonObject:
    """Returns: what is said of a model's abilities; nothing where nothing is said."""
    found: JsonObject = {}
    media = _object(item.get("architecture")).get("input_modalities")
    if isinstance(media, list):
        kinds: list[JsonValue] = ["pdf" if kind == "file" else str(kind) for kind in media]
        found["modalities"] = {"input": kinds, "output": ["text"]}
        found["attachment"] = len(kinds) > 1
    parameters = item.get("supported_parameters")
    if isinstance(parameters, list):
        found["tool_call"] = "tools" in parameters
        found["reasoning"] = "reasoning" in parameters
        found["temperature"] = "temperature" in parameters
    capabilities = _object(item.get("capabilities"))
    if isinstance(can_call := capabilities.get("function_calling"), bool):
        found["tool_call"] = can_call
    if isinstance(thinks := item.get("thinking"), bool):
        found["reasoning"] = thinks
    return found


def _cost(pricing: JsonObject) -> JsonObject:
    """Returns: USD per million tokens, of prices for one; nothing where one is below zero."""
    cost: JsonObject = {}
    for field, name in _PRICES.items():
        try:
            price = Decimal(str(pricing[field])) * _PER_MILLION
        except (KeyError, InvalidOperation):
            continue
        if not price.is_finite() or price < 0:
            return {}
        cost[name] = float(price)
    return cost if {"input", "output"} <= cost.keys() else {}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
