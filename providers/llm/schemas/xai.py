"""Tool schemas as xAI takes them: it cannot forbid further properties."""

from __future__ import annotations

from ..json import JsonObject, JsonValue
from ..messages import ToolDefinition


def open_schema(tool: ToolDefinition) -> JsonObject:
    """Returns: the parameters of a tool without `additionalProperties: false`."""
    return _opened(tool.schema)


def _opened(schema: JsonObject) -> JsonObject:
    return {
        key: _walked(value)
        for key, value in schema.items()
        if not (key == "additionalProperties" and value is False)
    }


def _walked(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_walked(one) for one in value]
    return _opened(value) if isinstance(value, dict) else value
