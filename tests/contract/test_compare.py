from __future__ import annotations

from typing import Any

import pytest

from tests.contract.compare import Difference, compare
from tests.contract.reviewed import Reviewed, outdated, unreviewed

TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def thing(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def document(schema: Any, *, path: str = "/x/{id}", **more: Any) -> dict[str, Any]:
    answer = {"content": {"application/json": {"schema": schema}}}
    operation = {"responses": {"200": answer}, **more}
    return {
        "paths": {path: {"get": operation}},
        "components": {"schemas": {"Named": thing(("a",), a=TEXT)}},
    }


NAMED = {"$ref": "#/components/schemas/Named"}
CAT = thing(("kind", "tail"), kind={"enum": ["cat"]}, tail=WHOLE)
DOG = thing(("kind", "bark"), kind={"enum": ["dog"]}, bark=TEXT)


def test_what_a_client_would_miss_is_found(subtests: pytest.Subtests) -> None:
    cases = [
        (TEXT, TEXT, []),
        (NUMBER, WHOLE, []),
        (WHOLE, NUMBER, ["answer"]),
        (thing(("a",), a=TEXT), thing(("a",), a=TEXT, more=TEXT), []),
        (thing(("a",), a=TEXT), thing(), ["answer.a"]),
        (thing(("a",), a=TEXT), thing(a=TEXT), ["answer.a"]),
        (thing(a=TEXT), thing(), []),
        (thing(a=TEXT), thing(a=NUMBER), ["answer.a"]),
        (NAMED, thing(("a",), a=TEXT), []),
        (NAMED, thing(), ["answer.a"]),
        ({"type": "array", "items": NAMED}, {"type": "array", "items": thing()}, ["answer[].a"]),
        (
            {"type": "object", "additionalProperties": NAMED},
            {"type": "object", "additionalProperties": thing()},
            ["answer.*.a"],
        ),
        ({"anyOf": [TEXT, NUMBER]}, TEXT, []),
        (TEXT, {"anyOf": [TEXT, NUMBER]}, ["answer"]),
        ({"enum": ["a", "b"]}, {"const": "a"}, []),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, ["answer"]),
        ({"anyOf": [CAT, DOG]}, {"oneOf": [CAT, DOG]}, []),
        ({"anyOf": [CAT, DOG]}, thing(("kind",), kind={"const": "dog"}), ["answer.bark"]),
        ({}, TEXT, []),
    ]
    for theirs, ours, places in cases:
        with subtests.test(theirs=theirs, ours=ours):
            found = compare(document(theirs), document(ours, path="/x/{other_name}"))
            assert [one.place for one in found] == [f"GET /x/{{}} {place}" for place in places]


def test_a_route_that_is_not_there_is_found() -> None:
    missing = compare(document(TEXT), document(TEXT, path="/y"))
    assert [str(one) for one in missing] == ["GET /x/{}: is not there"]


def test_nothing_more_may_be_required_of_a_client() -> None:
    def body(*required: str) -> dict[str, Any]:
        schema = thing(required, a=TEXT, b=TEXT)
        return {"requestBody": {"content": {"application/json": {"schema": schema}}}}

    def query(*, required: bool) -> dict[str, Any]:
        return {"parameters": [{"name": "q", "in": "query", "required": required}]}

    wanted = document(TEXT, **body("a"), **query(required=False))
    asks_more = document(TEXT, **body("a", "b"), **query(required=True))
    found = compare(wanted, asks_more)
    assert [one.place for one in found] == ["GET /x/{} body.b", "GET /x/{} query.q"]
    assert compare(wanted, document(TEXT, **body(), **query(required=False))) == []


def test_names_of_operations_and_parameters_that_are_not_described_are_found() -> None:
    directory = {"name": "directory", "in": "query"}
    wanted = document(TEXT, operationId="x.get", parameters=[directory])
    assert compare(wanted, wanted) == []
    found = compare(wanted, document(TEXT, operationId="x_get"))
    assert [one.place for one in found] == ["GET /x/{} operationId", "GET /x/{} query.directory"]


def test_reviewed_entries_cover_what_they_name_and_no_more() -> None:
    found = [Difference("GET /a answer[].b", "is missing"), Difference("GET /c", "is not there")]
    entries = [Reviewed("GET /a answer[].*", "w"), Reviewed("GET /gone", "w")]
    assert unreviewed(found, entries) == [found[1]]
    assert outdated(found, entries) == [entries[1]]
