"""Gemini's dialect of JSON Schema: a part of OpenAPI 3.0, without references and without bounds.

Source: https://ai.google.dev/api/caching#Schema; what it refuses besides (a type without items, an
enum that is not of texts, names required that are not there) was learnt from its errors.
"""

from __future__ import annotations

from ..json import JsonObject, JsonValue, dump

# A schema may refer to itself, or to others so often that written out it never ends.
MAX_DEPTH = 30
MAX_NODES = 5_000
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object"})
_ANYTHING: JsonObject = {"type": "object"}


def gemini_schema(schema: JsonObject) -> JsonObject | None:
    """Returns: the parameters of a tool; None where it has none, which Gemini wants left out."""
    reduced = _Writer(schema).write(schema, 0)
    if isinstance(options := reduced.get("anyOf"), list):
        # Parameters are one object here: whatever may be given is offered.
        reduced = _Writer(schema).write({"allOf": options}, 0)
        reduced.pop("required", None)
    return reduced if reduced.get("properties") else None


class _Writer:
    """Writes one schema out; `root` is what its references point into."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0

    def write(self, node: JsonValue, depth: int) -> JsonObject:
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            return dict(_ANYTHING)
        if not isinstance(node, dict):
            return {"type": "string"}
        if isinstance(reference := node.get("$ref"), str):
            beside = {key: value for key, value in node.items() if key != "$ref"}
            return self.write({**self._find(reference), **beside}, depth + 1)
        if isinstance(parts := node.get("allOf"), list):
            beside = {key: value for key, value in node.items() if key != "allOf"}
            return self.write(self._joined([*parts, beside]), depth + 1)
        return self._described(node, self._plain(node, depth))

    def _plain(self, node: JsonObject, depth: int) -> JsonObject:
        # Beside properties they mostly say which names go together, for which there are no words.
        for name in () if "properties" in node else ("anyOf", "oneOf"):
            if isinstance(options := node.get(name), list) and options:
                return self._one_of(options, depth)
        kinds = _kinds(node)
        if len(kinds) > 1:
            each: list[JsonValue] = [{**node, "type": kind} for kind in kinds]
            return self._one_of(each, depth)
        values = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(values, list) and values:
            return _enum(values)
        kind = kinds[0]
        if kind == "object":
            return self._object(node, depth)
        if kind == "array":
            return {"type": kind, "items": self._items(node, depth)}
        # Other formats of texts are refused.
        dated = kind == "string" and node.get("format") == "date-time"
        return {"type": kind, **({"format": "date-time"} if dated else {})}

    def _object(self, node: JsonObject, depth: int) -> JsonObject:
        given = node.get("properties")
        if not isinstance(given, dict) or not given:
            return dict(_ANYTHING)
        written: JsonObject = {"type": "object"}
        written["properties"] = {k: self.write(value, depth + 1) for k, value in given.items()}
        names = node.get("required")
        known: list[JsonValue] = [
            name
            for name in (names if isinstance(names, list) else ())
            if isinstance(name, str) and name in given
        ]
        return {**written, "required": known} if known else written

    def _items(self, node: JsonObject, depth: int) -> JsonObject:
        items = node.get("items", node.get("prefixItems"))
        if isinstance(items, list):
            items = items[0] if items else None
        return self.write(items, depth + 1)

    def _one_of(self, options: list[JsonValue], depth: int) -> JsonObject:
        kept = [one for one in options if not _is_null(one)]
        written = [self.write(one, depth + 1) for one in kept]
        if not written:
            return {"type": "string", "nullable": True}
        either: JsonObject = written[0] if len(written) == 1 else {"anyOf": [*written]}
        return {**either, "nullable": True} if len(kept) < len(options) else either

    def _described(self, node: JsonObject, written: JsonObject) -> JsonObject:
        if isinstance(text := node.get("description"), str):
            written["description"] = text
        types = node.get("type")
        if node.get("nullable") is True or (isinstance(types, list) and "null" in types):
            written["nullable"] = True
        return written

    def _find(self, reference: str) -> JsonObject:
        found: JsonValue = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else _ANYTHING

    def _joined(self, parts: list[JsonValue]) -> JsonObject:
        joined: JsonObject = {}
        properties: JsonObject = {}
        required: list[JsonValue] = []
        for part in parts:
            if not isinstance(part, dict):
                continue
            reference = part.get("$ref")
            known = {**self._find(reference), **part} if isinstance(reference, str) else part
            joined |= {key: value for key, value in known.items() if key != "$ref"}
            if isinstance(more := known.get("properties"), dict):
                properties |= more
            if isinstance(names := known.get("required"), list):
                required += names
        if properties:
            joined |= {"properties": properties, "required": required}
        return joined


def _kinds(node: JsonObject) -> list[str]:
    given = node.get("type")
    kinds = given if isinstance(given, list) else [given]
    if named := [kind for kind in kinds if isinstance(kind, str) and kind in _TYPES]:
        return named
    if "properties" in node or "additionalProperties" in node:
        return ["object"]
    return ["array"] if "items" in node or "prefixItems" in node else ["string"]


def _enum(values: list[JsonValue]) -> JsonObject:
    """Gemini's enums are of texts that are not empty, whatever type was given."""
    texts: list[JsonValue] = [
        value if isinstance(value, str) else dump(value) for value in values if value is not None
    ]
    texts = [text for text in dict.fromkeys(str(text) for text in texts) if text]
    written: JsonObject = {"type": "string", **({"enum": texts} if texts else {})}
    return {**written, "nullable": True} if None in values else written


def _is_null(node: JsonValue) -> bool:
    return isinstance(node, dict) and node.get("type") == "null"
