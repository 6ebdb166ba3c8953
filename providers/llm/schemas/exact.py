"""Schemas that vendors hold a model to as it writes: a part of JSON Schema, and all of it closed.

Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas;
https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations.
What both take counts.
"""

from __future__ import annotations

from ..json import JsonObject, JsonValue
from ..messages import ToolDefinition

_WORDS = frozenset(
    {"type", "description", "properties", "required", "additionalProperties", "items", "enum",
     "anyOf"}
)  # fmt: skip
_MAX_DEPTH = 5


def is_exact(tool: ToolDefinition) -> bool:
    """Whether a tool wants its arguments to fit, and has a schema that can be held to."""
    return tool.fits_exactly and tool.schema.get("type") == "object" and _is_closed(tool.schema)


def _is_closed(schema: JsonValue, depth: int = 0) -> bool:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH or not schema.keys() <= _WORDS:
        return False
    if "enum" in schema:
        return True
    kind, choices = schema.get("type"), schema.get("anyOf")
    if isinstance(choices, list):
        return all(_is_closed(one, depth + 1) for one in choices)
    if kind == "object":
        return _is_closed_object(schema, depth)
    if kind == "array":
        return _is_closed(schema.get("items"), depth + 1)
    return kind in {"string", "number", "integer", "boolean", "null"}


def _is_closed_object(schema: JsonObject, depth: int) -> bool:
    properties, required = schema.get("properties"), schema.get("required", [])
    if schema.get("additionalProperties") is not False or not isinstance(properties, dict):
        return False
    is_whole = isinstance(required, list) and set(map(str, required)) == properties.keys()
    return is_whole and all(_is_closed(one, depth + 1) for one in properties.values())
