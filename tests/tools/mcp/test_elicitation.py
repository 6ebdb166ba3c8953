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
        {f"a{number}": {"type": "string"} for number in range(17)},
        {"a": {"type": "array", "items": {"type": "string"}}},
        {"a": {"type": "array"}},
    ):
        with subtests.test(properties=properties):
            assert form_of(**properties) is None


def test_long_texts_of_a_server_are_cut() -> None:
    given: JsonObject = {"message": "m" * 5_000}
    form = read_form("shop", given)
    assert form is not None
    assert len(form.questions[0].question) < 1_100


TEAS: JsonObject = {"anyOf": [{"const": "g", "title": "Green"}, {"const": "b", "title": "Black"}]}


def test_several_can_be_chosen_and_what_is_left_out_has_its_default() -> None:
    form = form_of(
        ["teas", "cup"],
        teas={"type": "array", "items": TEAS, "minItems": 1, "maxItems": 2},
        cup={"type": "string", "oneOf": TEAS["anyOf"], "default": "b"},
        sugar={"type": "boolean", "default": False},
    )
    assert form is not None
    teas, cup, sugar = form.questions
    assert (teas.multiple, [one.label for one in teas.options]) == (True, ["Green", "Black"])
    assert (cup.multiple, "Without an answer: Black" in cup.question) == (False, True)
    assert "Without an answer: No" in sugar.question
    content = {"teas": ["b", "g"], "cup": "b", "sugar": False}
    accepted = ({"action": "accept", "content": content}, "")
    assert to_result(form, [["Black", "Green", "Black"], [], []]) == accepted
    # In their own words, as where there are too many to be shown.
    assert to_result(form, [["Black, g"], ["Black"], ["No"]]) == accepted
    assert to_result(form, [["Black", "Red"], [], []])[1] == "teas: choose among the options."


def test_bounds_and_formats_are_kept(subtests: pytest.Subtests) -> None:
    number = {"type": "integer", "minimum": 1, "maximum": 9}
    text = {"type": "string", "minLength": 2, "maxLength": 3}
    several = {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1}
    cases: list[tuple[dict[str, object], list[str], str]] = [
        (number, ["0"], "at least 1."),
        (number, ["10"], "at most 9."),
        (number, ["9"], ""),
        (text, ["a"], "at least 2 characters."),
        (text, ["abcd"], "at most 3 characters."),
        (several, ["x", "y"], "choose at most 1."),
        ({"type": "string", "format": "email"}, ["a at b"], "an e-mail address."),
        ({"type": "string", "format": "email"}, ["a@b.example"], ""),
        ({"type": "string", "format": "date"}, ["tomorrow"], "a date, such as"),
        ({"type": "string", "format": "date-time"}, ["2026-01-31T12:00:00Z"], ""),
        ({"type": "string", "format": "uri"}, ["https://x.example"], ""),
        ({"type": "string", "format": "uri"}, ["x y"], "an address."),
    ]
    for schema, answer, problem in cases:
        with subtests.test(schema=schema, answer=answer):
            form = form_of(a=schema)
            assert form is not None
            result, said = to_result(form, [answer])
            assert problem in said
            assert result["action"] == ("decline" if problem else "accept")
            assert bool(said) is bool(problem)


def test_bounds_and_answers_that_no_number_can_be(subtests: pytest.Subtests) -> None:
    for kind, bound, given, problem in (
        ("integer", {"minimum": 10**400}, "3", f"a: this must be at least 1{'0' * 99}."),
        ("number", {"maximum": -(10**400)}, "3", f"a: this must be at most -1{'0' * 98}."),
        ("integer", {"maximum": 1_234_567}, "9999999", "a: this must be at most 1234567."),
        ("number", {}, "nan", "a: this must be a number."),
        ("number", {}, "inf", "a: this must be a number."),
    ):
        with subtests.test(bound=bound, given=given):
            form = form_of(a={"type": kind, **bound})
            assert form is not None
            assert to_result(form, [[given]]) == ({"action": "decline"}, problem)
