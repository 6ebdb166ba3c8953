from __future__ import annotations

import json

import pytest

from tools.repair import repair_unknown, repair_unreadable

OFFERED = ["apply_patch", "bash", "edit", "glob", "grep", "list", "read", "todowrite", "write"]


def test_the_closest_name_is_suggested(subtests: pytest.Subtests) -> None:
    cases = [
        ("reed", "read"),
        ("shell", "bash"),
        ("Str_Replace_Editor", "edit"),
        ("functions.read", "read"),
        ("mcp__files__grep", "grep"),
        ("create-file", "write"),
        ("ls", "list"),
        ("update_plan", "todowrite"),
        ("ApplyPatch", "apply_patch"),
        ("globb", "glob"),
    ]
    for called, meant in cases:
        with subtests.test(called=called):
            repaired = repair_unknown(called, offered=OFFERED)
            assert repaired["tool"] == called
            assert f"There is no tool '{called}'. Did you mean {meant}?" in str(repaired["error"])


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    error = str(repair_unknown("teleport", offered=OFFERED)["error"])
    names = ", ".join(OFFERED)
    assert error == f"There is no tool 'teleport'. Available tools: {names}."


def test_a_tool_that_was_not_offered_is_not_suggested() -> None:
    error = str(repair_unknown("shell", offered=["glob", "read"])["error"])
    assert "bash" not in error
    assert error.endswith("Available tools: glob, read.")
    assert "Available tools: none." in str(repair_unknown("x", offered=[])["error"])


def test_a_huge_name_costs_little() -> None:
    repaired = repair_unknown("read" * 1_000_000, offered=OFFERED)
    assert len(str(repaired)) < 600


def test_what_is_wrong_with_the_text_is_said_with_its_place(subtests: pytest.Subtests) -> None:
    cases = [
        ('{"filePath": "a"', "the text ends too early, after 16 characters."),
        ('{"filePath": "a\n"}', "Invalid control character at line 1, column 16"),
        ("{'filePath': 1}", "line 1, column 2, after '{' and before \"'filePath': 1}\"."),
        ('{\n  "a": 1,\n  "b" 2}', "Expecting ':' delimiter at line 3, column 7"),
        ('["a"]', "it is a list."),
        ('"a"', "it is a text."),
        ("null", "it is null."),
        ("12", "it is a number."),
        ("true", "it is true or false."),
        ('{"a": NaN}', "NaN is no JSON value."),
        ('{"a": 1e999}', "1e999 is too large a number."),
        ("[" * 100_000, "nested more than 50 levels deep."),
        ('{"a":' * 200 + "1" + "}" * 200, "nested more than 50 levels deep."),
        ('{"a": ' + "9" * 5000 + "}", "digits"),
    ]
    for raw, problem in cases:
        with subtests.test(raw=raw):
            repaired = repair_unreadable("read", raw=raw)
            assert repaired["tool"] == "read"
            error = str(repaired["error"])
            assert error.startswith("The arguments for read are not a JSON object: ")
            assert problem in error.split("They were:")[0]


def test_a_long_text_is_shown_in_part_with_what_is_left_out() -> None:
    error = str(repair_unreadable("write", raw=json.dumps("x" * 9_000)[:-1])["error"])
    assert len(error) < 2_400
    assert "not shown)" in error
