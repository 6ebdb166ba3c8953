"""Tool schemas reduced to what OpenAI's API takes.

Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas and what was
recorded of OpenCode's requests.
"""

from __future__ import annotations

from ..json import JsonObject, JsonValue
from ..messages import ToolDefinition

# Its schema is the caller's own and goes as it was given.
VERBATIM_TOOL = "StructuredOutput"
_KEPT = frozenset(
    {"type", "description", "enum", "properties", "required", "items", "additionalProperties",
     "anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions"}
)  # fmt: skip
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_NAMED = ("properties", "$defs", "definitions")
_CHOICES = ("anyOf", "oneOf", "allOf")


def reduced_schema(tool: ToolDefinition) -> JsonObject:
    """Returns: the parameters of a tool as OpenAI takes them."""
    return tool.schema if tool.name == VERBATIM_TOOL else reduced(tool.schema)


def reduced(schema: JsonObject) -> JsonObject:
    """Returns: the schema of an object with known keywords only and every node typed."""
    return _node({**schema, "type": "object"})


def _node(schema: JsonObject) -> JsonObject:
    node: JsonObject = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema and "enum" not in node:
        node["enum"] = [schema["const"]]
    for key in _NAMED:
        if isinstance(children := node.get(key), dict):
            node[key] = {name: _child(child) for name, child in children.items()}
    for key in _CHOICES:
        if isinstance(choices := node.get(key), list):
            node[key] = [_child(choice) for choice in choices]
    if "items" in node:
        items = node["items"]
        # A tuple of item schemas is not supported; its first says most.
        node["items"] = _child(items[0] if isinstance(items, list) and items else items)
    if isinstance(others := node.get("additionalProperties"), dict):
        node["additionalProperties"] = _node(others)
    if not node.keys() & {"type", "$ref", *_CHOICES}:
        node["type"] = _infer(schema, node)
    _complete(node)
    return node


def _child(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _node(value)
    # `true` means anything; what is no schema at all may mean as much.
    return value if value is False else {"type": "string"}


def _complete(node: JsonObject) -> None:
    if node.get("type") == "object":
        given, required = node.get("properties"), node.get("required")
        properties = given if isinstance(given, dict) else {}
        node["properties"] = properties
        if isinstance(required, list):
            named = [name for name in required if isinstance(name, str) and name in properties]
            node["required"] = [*named]
    if node.get("type") == "array":
        node.setdefault("items", {"type": "string"})


def _infer(schema: JsonObject, node: JsonObject) -> str:
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    values = node.get("enum")
    if isinstance(values, list) and values:
        if all(isinstance(value, bool) for value in values):
            return "boolean"
        if all(isinstance(value, int | float) for value in values):
            return "number"
    return "number" if schema.keys() & _BOUNDS else "string"
