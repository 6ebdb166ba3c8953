"""Tool schemas as OpenAI's API and its many imitators accept them."""

from __future__ import annotations

from dataclasses import replace

from opencode_web.lib.json import JsonObject, JsonValue
from providers.messages import ProviderRequest

# Keywords that the API documents. Others make some servers answer 400, and models ignore them.
# Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
_KEPT = frozenset(
    {"type", "description", "title", "enum", "properties", "required", "items", "anyOf", "oneOf",
     "allOf", "additionalProperties", "default", "format", "pattern", "minimum", "maximum",
     "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "minLength",
     "maxLength", "$ref", "$defs"}
)  # fmt: skip


def sanitise_tool_schemas(request: ProviderRequest) -> ProviderRequest:
    """Clean the schema of every tool."""
    return replace(
        request, tools=tuple(replace(t, schema=sanitise(t.schema)) for t in request.tools)
    )


def sanitise(schema: JsonObject) -> JsonObject:
    """Return the schema of an object with known keywords only and every node typed."""
    clean = _node(schema)
    clean["type"] = "object"
    clean.setdefault("properties", {})
    return clean


def _node(schema: JsonObject) -> JsonObject:
    node: JsonObject = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema and "enum" not in node:
        node["enum"] = [schema["const"]]
    for key in ("properties", "$defs"):
        if isinstance(children := node.get(key), dict):
            node[key] = {name: _child(child) for name, child in children.items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := node.get(key), list):
            node[key] = [_child(option) for option in options]
    # A tuple of item schemas is not supported; its first says most.
    items = node.get("items")
    if "items" in node:
        first = items[0] if isinstance(items, list) and items else items
        node["items"] = _child(first)
    if isinstance(node.get("additionalProperties"), dict):
        node["additionalProperties"] = _child(node["additionalProperties"])
    _fill(node)
    return node


def _child(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _node(value)
    # `true` means anything.
    return {"type": "string"} if value is True else value


def _fill(node: JsonObject) -> None:
    """Infer a missing type, and complete objects and arrays."""
    if not node.keys() & {"type", "anyOf", "oneOf", "allOf", "$ref"}:
        node["type"] = _infer(node)
    if node.get("type") == "object":
        node.setdefault("properties", {})
        properties, required = node["properties"], node.get("required")
        if isinstance(required, list) and isinstance(properties, dict):
            node["required"] = [name for name in required if name in properties]
    if node.get("type") == "array" and "items" not in node:
        node["items"] = {"type": "string"}


def _infer(node: JsonObject) -> str:
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    values = node.get("enum")
    if isinstance(values, list) and values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if (
        isinstance(values, list)
        and values
        and all(isinstance(value, int | float) for value in values)
    ):
        return "number"
    if node.keys() & {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}:
        return "number"
    return "string"
