from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.llm.schemas.gemini import gemini_schema
from tests.providers.llm.servers_gemini import check_schema


def of(schema: Any, **root: Any) -> Any:
    written: Any = gemini_schema({"type": "object", "properties": {"a": schema}, **root})
    return written["properties"]["a"]


def test_it_writes_what_gemini_reads(subtests: pytest.Subtests) -> None:
    cases = [
        ({"type": "string", "minLength": 1, "pattern": "x", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"type": ["string", "integer"]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"type": "integer", "nullable": True},
        ),
        ({"const": 3}, {"type": "string", "enum": ["3"]}),
        ({"type": "integer", "enum": [1, 2]}, {"type": "string", "enum": ["1", "2"]}),
        ({"enum": ["a", "", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}]},
            {"type": "array", "items": {"type": "number"}},
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        (
            {"allOf": [{"properties": {"x": {"type": "number"}}, "required": ["x", "y"]}]},
            {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        ),
        (True, {"type": "string"}),
        ({}, {"type": "string"}),
    ]
    for schema, written in cases:
        with subtests.test(schema=schema):
            assert of(schema) == written


def test_references_are_written_out() -> None:
    definitions = {"City": {"type": "object", "properties": {"n": {"type": "string"}}}}
    written = of({"$ref": "#/$defs/City", "description": "where"}, **{"$defs": definitions})
    assert written["properties"] == {"n": {"type": "string"}}
    assert written["description"] == "where"


def test_a_schema_that_holds_itself_has_an_end() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    both = {"type": "object", "properties": {k: {"$ref": "#/$defs/Two"} for k in "abcd"}}
    check_schema(of({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}}))
    check_schema(of({"$ref": "#/$defs/Two"}, **{"$defs": {"Two": both}}))


def test_a_tool_without_parameters_has_none() -> None:
    assert gemini_schema({"type": "object", "properties": {}}) is None


def test_names_that_go_together_leave_the_properties() -> None:
    properties: Any = {"a": {"type": "string"}}
    written = gemini_schema(
        {"type": "object", "properties": properties, "anyOf": [{"required": ["a"]}]}
    )
    assert written == {"type": "object", "properties": properties}


def test_a_choice_of_objects_offers_all_their_names() -> None:
    options: Any = [{"properties": {name: {"type": "string"}}} for name in "ab"]
    written: Any = gemini_schema({"oneOf": options})
    assert set(written["properties"]) == {"a", "b"}
    check_schema(written, is_root=True)


KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "anyOf", "allOf", "$ref", "const"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "array", "#", "null"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_server_of_tools_says_becomes_a_schema(schema: Any) -> None:
    check_schema(of(schema))
