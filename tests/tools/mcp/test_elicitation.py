from __future__ import annotations

import pytest

from opencode_web.lib.json import JsonObject
from tools.mcp.elicitation import Form, read_form, to_result


def form_of(required: list[str] | None = None, **properties: object) -> Form | None:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return read_form("shop", {"message": "Which tea?", "requestedSchema": schema})  # type: ignore[dict-item]


def test_a_form_becomes_questions() -> None:
    form = form_of(
        name={"type": "string", "title": "Na\x1bme", "description": "Of the tea"},
        kind={"type": "string", "enum": ["g", "b"], "enumNames": ["Green", "Black"]},
        count={"type": "integer"},
        wrapped={"type": "boolean"},
    )
    assert form is not None
    name, kind, count, wrapped = form.questions
    assert name.question == "The MCP server shop asks: Which tea?\n\nName: Of the tea"
    assert (name.header, name.options) == ("Name", ())
    assert [one.label for one in kind.options] == ["Green", "Black"]
    assert (count.header, count.options) == ("count", ())
    assert [one.label for one in wrapped.options] == ["Yes", "No"]
    answers = [["Oolong"], ["Black"], ["3"], ["No"]]
    content = {"name": "Oolong", "kind": "b", "count": 3, "wrapped": False}
    assert to_result(form, answers) == ({"action": "accept", "content": content}, "")


def test_what_is_not_answered(subtests: pytest.Subtests) -> None:
    text, number = {"type": "string"}, {"type": "number"}
    cases: list[tuple[Form | None, list[list[str]], JsonObject, str]] = [
        (form_of(a=text), [[]], {"action": "accept", "content": {}}, ""),
        (form_of(["a"], a=text), [[]], {"action": "decline"}, ""),
        (form_of(a=number), [["2.5"]], {"action": "accept", "content": {"a": 2.5}}, ""),
        (form_of(a=number), [["two"]], {"action": "decline"}, "a: this must be a number."),
        (form_of(), [["Accept"]], {"action": "accept", "content": {}}, ""),
        (form_of(), [["Decline"]], {"action": "decline"}, ""),
    ]
    for form, answers, result, problem in cases:
        with subtests.test(answers=answers):
            assert form is not None
            assert to_result(form, answers) == (result, problem)


def test_what_cannot_be_asked(subtests: pytest.Subtests) -> None:
    for properties in (
        {"a": {"type": "object"}},
        {"a": {"type": ["string"]}},
        {"a": "string"},
        {f"a{number}": {"type": "string"} for number in range(9)},
    ):
        with subtests.test(properties=properties):
            assert form_of(**properties) is None


def test_long_texts_of_a_server_are_cut() -> None:
    given: JsonObject = {"message": "m" * 5_000}
    form = read_form("shop", given)
    assert form is not None
    assert len(form.questions[0].question) < 1_100
