from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Invalid
from sessions.output_format import read_format

PERSON = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^(a+)+$"},
        "age": {"type": "integer", "minimum": 0},
        "friends": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def problem(schema: dict[str, Any], value: Any) -> str:
    wanted = read_format({"type": "json_schema", "schema": schema})
    assert wanted is not None
    return wanted.problem(value)


@pytest.mark.parametrize("given", [None, {"type": "text"}])
def test_text_needs_no_schema(given: Any) -> None:
    assert read_format(given) is None


@pytest.mark.parametrize(("given", "retries"), [({}, 2), ({"retryCount": 0}, 0)])
def test_retries(given: dict[str, Any], retries: int) -> None:
    wanted = read_format({"type": "json_schema", "schema": {}, **given})
    assert wanted is not None
    assert wanted.retries == retries


def test_a_value_is_checked(subtests: pytest.Subtests) -> None:
    cases = [
        ({"name": "Ada"}, ""),
        ({"name": "Ada", "friends": [{"name": "Bob"}]}, ""),
        ({}, "answer: 'name' is a required property"),
        ({"name": "Ada", "age": -1}, "answer['age']: -1 is less than the minimum of 0"),
        ({"name": "A", "friends": [{}]}, "answer['friends'][0]: 'name' is a required property"),
    ]
    for value, expected in cases:
        with subtests.test(value=value):
            assert problem(PERSON, value) == expected


def test_a_hostile_expression_is_never_run() -> None:
    hostile = {"name": "a" * 60 + "!"}
    assert problem(PERSON, {**hostile, "friends": [hostile]}) == ""


def test_a_pyramid_of_references_is_given_up() -> None:
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n - 1}"}] * 2} for n in range(1, 40)}
    schema = {"$defs": {"l0": {}, **levels}, "allOf": [{"$ref": "#/$defs/l39"}]}
    assert "too often" in problem(schema, {})


def test_a_reference_to_itself_is_given_up() -> None:
    assert "too often" in problem({"$ref": "#"}, {})


def test_what_cannot_be_used_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ({"type": "xml"}, "format.type"),
        ({"type": "json_schema"}, "format.schema: must be"),
        ({"type": "json_schema", "schema": {}, "retryCount": 11}, "format.retryCount"),
        ({"type": "json_schema", "schema": {}, "retryCount": True}, "format.retryCount"),
        ({"type": "json_schema", "schema": {"type": "array"}}, "must describe an object"),
        ({"type": "json_schema", "schema": {"required": 1}}, "format.schema: 1 is not"),
        ({"type": "json_schema", "schema": {"patternProperties": {"a": {}}}}, "patternProperties"),
        ({"type": "json_schema", "schema": {"$ref": "#/$defs/no"}}, "is not in the schema"),
        (
            {"type": "json_schema", "schema": {"$ref": "http://127.0.0.1:9/x.json"}},
            "is not in the schema",
        ),
    ]
    for given, message in cases:
        with subtests.test(given=given):
            with pytest.raises(Invalid) as caught:
                read_format(given)
            assert message in caught.value.message
