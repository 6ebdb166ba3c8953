from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.llm.messages import ToolDefinition
from providers.llm.schemas.openai import VERBATIM_TOOL, reduced, reduced_schema
from providers.llm.schemas.xai import open_schema


def test_a_property_is_reduced_to_what_the_api_takes(subtests: pytest.Subtests) -> None:
    cases = [
        ({"type": "integer", "minimum": 0, "default": 3}, {"type": "integer"}),
        ({"const": "a"}, {"enum": ["a"], "type": "string"}),
        ({"enum": [1, 2]}, {"enum": [1, 2], "type": "number"}),
        ({"enum": [True]}, {"enum": [True], "type": "boolean"}),
        ({"minimum": 1}, {"type": "number"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"items": [{"type": "number"}, {"type": "string"}]},
            {"type": "array", "items": {"type": "number"}},
        ),
        ({"$ref": "#/$defs/a", "title": "A"}, {"$ref": "#/$defs/a"}),
        (True, {"type": "string"}),
        (
            {"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        (
            {"additionalProperties": {"type": "string", "maxLength": 3}},
            {"additionalProperties": {"type": "string"}, "type": "object", "properties": {}},
        ),
        (
            {"type": "object", "properties": {"default": {}}, "required": ["default", "gone"]},
            {
                "type": "object",
                "properties": {"default": {"type": "string"}},
                "required": ["default"],
            },
        ),
    ]
    for node, clean in cases:
        with subtests.test(node=node):
            assert reduced({"properties": {"a": node}})["properties"] == {"a": clean}


def test_a_tool_without_parameters_takes_an_object() -> None:
    assert reduced({}) == {"type": "object", "properties": {}}


def test_the_schema_that_a_caller_gives_stays() -> None:
    schema: Any = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
    assert reduced_schema(ToolDefinition(VERBATIM_TOOL, "d", schema)) == schema


def test_xai_is_not_told_to_forbid_properties() -> None:
    inner = {"type": "object", "additionalProperties": False, "minProperties": 1}
    schema: Any = {
        "additionalProperties": False,
        "properties": {"a": {"anyOf": [inner]}, "b": {"additionalProperties": {"type": "string"}}},
    }
    assert open_schema(ToolDefinition("a", "d", schema)) == {
        "properties": {
            "a": {"anyOf": [{"type": "object", "minProperties": 1}]},
            "b": {"additionalProperties": {"type": "string"}},
        }
    }


leaves = st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "array"])
words = st.sampled_from(
    ["type", "enum", "const", "minimum", "format", "title", "required", "items", "properties",
     "additionalProperties", "anyOf", "$defs", "default"]
)  # fmt: skip
schemas = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(words, schemas, max_size=5))
def test_reducing_is_idempotent_whatever_a_server_of_tools_says(schema: Any) -> None:
    once = reduced(schema)
    assert reduced(once) == once
    assert once["type"] == "object"
