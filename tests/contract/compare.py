"""Compare what two servers say of themselves in OpenAPI: whether clients of one can use the other.

A place in an answer is written `GET /path answer.field[].other`, and `*` stands for any key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_METHODS = ("get", "put", "post", "delete", "patch")
_PARAMETER = re.compile(r"\{[^}]*\}")
_GOOD = ("200", "201", "204")


@dataclass(frozen=True)
class Difference:
    """`place` is what a reviewed entry names, `what` is for whoever reads the failure."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def routes(document: Json) -> dict[str, Json]:
    """`GET /session/{}` -> its operation. The names of parameters do not matter."""
    return {
        f"{method.upper()} {_PARAMETER.sub('{}', path)}": item[method]
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    }


def compare(theirs: Json, ours: Json) -> list[Difference]:
    """What clients written for `theirs` would miss in `ours`, by place."""
    known = routes(ours)
    found: list[Difference] = []
    for route, operation in routes(theirs).items():
        if route not in known:
            found.append(Difference(route, "is not there"))
            continue
        found += _Comparison(theirs, ours, route).run(operation, known[route])
    return sorted(set(found), key=str)


class _Comparison:
    def __init__(self, theirs: Json, ours: Json, route: str) -> None:
        self._theirs, self._ours, self._route = theirs, ours, route
        self._open: set[tuple[str, str]] = set()

    def run(self, wanted: Json, given: Json) -> Iterator[Difference]:
        if wanted.get("operationId") != given.get("operationId"):
            yield Difference(f"{self._route} operationId", f"is {given.get('operationId')}")
        wanted_body, given_body = _body(wanted), _body(given)
        if wanted_body is not None and given_body is not None:
            yield from self._request(wanted_body, given_body)
        yield from self._query(wanted, given)
        wanted_answer, given_answer = _answer(wanted), _answer(given)
        if wanted_answer is None:
            return
        if given_answer is None:
            yield Difference(f"{self._route} answer", "is not described")
            return
        yield from self._answered(wanted_answer, given_answer, "answer")

    def _request(self, wanted: Json, given: Json) -> Iterator[Difference]:
        """We must not want more of a body than they do."""
        ours = _resolve(given, self._ours)
        known: set[str] = set()
        for variant in _variants(_resolve(wanted, self._theirs), self._theirs):
            known |= set(variant.get("required", ()))
        for name in ours.get("required", ()):
            if name not in known:
                yield Difference(f"{self._route} body.{name}", "is required here only")

    def _query(self, wanted: Json, given: Json) -> Iterator[Difference]:
        ours = {one["name"] for one in given.get("parameters", ())}
        for one in wanted.get("parameters", ()):
            if one["in"] == "query" and one["name"] not in ours:
                yield Difference(f"{self._route} query.{one['name']}", "is not described")
        known = {one["name"] for one in wanted.get("parameters", ()) if one.get("required")}
        for one in given.get("parameters", ()):
            if one["in"] == "query" and one.get("required") and one["name"] not in known:
                yield Difference(f"{self._route} query.{one['name']}", "is required here only")

    def _answered(self, wanted: Json, given: Json, place: str) -> Iterator[Difference]:
        pair = (str(wanted), str(given))
        if pair in self._open:
            return
        self._open.add(pair)
        wanted, given = _resolve(wanted, self._theirs), _resolve(given, self._ours)
        choices = _variants(wanted, self._theirs)
        for variant in _variants(given, self._ours):
            # Of several shapes that they know, ours has to be one.
            same = [choice for choice in choices if self._is_tagged_as(choice, variant)]
            attempts = [list(self._shaped(one, variant, place)) for one in same or choices]
            yield from min(attempts, key=len, default=[])

    def _is_tagged_as(self, wanted: Json, given: Json) -> bool:
        """Whether what tells shapes apart, such as a `type`, is the same."""
        fields = wanted.get("properties", {})
        for name, ours in given.get("properties", {}).items():
            theirs = _values(_resolve(fields.get(name, {}), self._theirs))
            if theirs and theirs.isdisjoint(_values(_resolve(ours, self._ours)) or theirs):
                return False
        return True

    def _shaped(self, wanted: Json, given: Json, place: str) -> Iterator[Difference]:
        kind, ours = _kind(wanted), _kind(given)
        if not _fits(kind, ours):
            yield Difference(f"{self._route} {place}", f"is {ours}, and not {kind}")
        elif kind == "array":
            yield from self._answered(wanted.get("items", {}), given.get("items", {}), f"{place}[]")
        elif kind == "object":
            yield from self._fields(wanted, given, place)
        elif not _values(given) <= (_values(wanted) or _values(given)):
            yield Difference(f"{self._route} {place}", f"can be {sorted(_values(given))}")

    def _fields(self, wanted: Json, given: Json, place: str) -> Iterator[Difference]:
        fields, ours = wanted.get("properties", {}), given.get("properties", {})
        required = set(wanted.get("required", ()))
        for name, shape in fields.items():
            if name in ours:
                always = name in given.get("required", ()) or "default" in ours[name]
                if name in required and not always:
                    yield Difference(f"{self._route} {place}.{name}", "can be absent")
                yield from self._answered(shape, ours[name], f"{place}.{name}")
            elif name in required:
                yield Difference(f"{self._route} {place}.{name}", "is missing")
        more, ours_more = wanted.get("additionalProperties"), given.get("additionalProperties")
        if isinstance(more, dict) and isinstance(ours_more, dict):
            yield from self._answered(more, ours_more, f"{place}.*")


def event_types(document: Json) -> set[str]:
    """The types of the events that a server says it sends."""
    schemas = document["components"]["schemas"]
    return {
        kind
        for name in ("Event", "V2Event")
        for event in _variants(schemas[name], document)
        for kind in _values(event["properties"]["type"])
    }


def fits(value: Any, schema: Json, document: Json) -> bool:  # any JSON
    """Whether an object has what one of the shapes of a schema requires."""
    return any(
        all(name in value for name in shape.get("required", ()))
        and all(
            not isinstance(value.get(name), str) or value[name] in (_values(field) or {value[name]})
            for name, field in shape.get("properties", {}).items()
        )
        for shape in _variants(_resolve(schema, document), document)
    )


def _body(operation: Json) -> Json | None:
    content = operation.get("requestBody", {}).get("content", {})
    found: Json | None = content.get("application/json", {}).get("schema")
    return found


def _answer(operation: Json) -> Json | None:
    for code in _GOOD:
        content = operation["responses"].get(code, {}).get("content", {})
        if "application/json" in content:
            found: Json = content["application/json"]["schema"]
            return found
    return None


def _resolve(schema: Json, document: Json) -> Json:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _variants(schema: Json, document: Json) -> list[Json]:
    """The shapes that a schema allows, one level of unions after the other."""
    inner = schema.get("anyOf") or schema.get("oneOf")
    if inner is None:
        if isinstance(schema.get("type"), list):
            return [{**schema, "type": one} for one in schema["type"]]
        return [schema]
    found: list[Json] = []
    for one in inner:
        found += _variants(_resolve(one, document), document)
    return found


def _kind(schema: Json) -> str:
    if "type" in schema:
        return str(schema["type"])
    if "const" in schema or "enum" in schema:
        value = schema.get("const", schema.get("enum", [None])[0])
        return {str: "string", bool: "boolean", int: "integer"}.get(type(value), "any")
    return "object" if "properties" in schema else "any"


def _values(schema: Json) -> set[str]:
    """Empty where it can be anything."""
    return set(schema.get("enum", [schema["const"]] if "const" in schema else ()))


def _fits(wanted: str, given: str) -> bool:
    return "any" in (wanted, given) or wanted == given or (wanted, given) == ("number", "integer")
