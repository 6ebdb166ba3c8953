"""Kimi's dialect of JSON Schema: nothing beside a reference, and one kind of items in a list.

Source: what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..json import JsonObject, JsonValue
from ..messages import ProviderRequest

_KIMI = re.compile(r"kimi|\bk2p", re.I)


def with_dialect(request: ProviderRequest) -> ProviderRequest:
    """Returns: the request with the tools as Kimi takes them, if it is one."""
    provider_id = request.model.ref.provider_id
    if not (_KIMI.search(request.model.api_model) or provider_id.startswith("moonshotai")):
        return request
    tools = tuple(replace(tool, schema=kimi_schema(tool.schema)) for tool in request.tools)
    return replace(request, tools=tools)


def kimi_schema(schema: JsonObject) -> JsonObject:
    """Returns: the parameters of a tool as Kimi takes them."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    return {name: _written(name, value) for name, value in schema.items()}


def _written(name: str, value: JsonValue) -> JsonValue:
    if name == "items" and isinstance(value, list):
        value = value[0] if value else {}
    if isinstance(value, list):
        return [_written("", one) for one in value]
    return kimi_schema(value) if isinstance(value, dict) else value
