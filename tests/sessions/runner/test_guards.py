from __future__ import annotations

import pytest

from opencode_web.lib.json import JsonObject
from sessions.events.parts import ToolPart, ToolPending
from sessions.runner.calls.guards import WINDOW_CHARS, Monologue, find_repeats

pytestmark = pytest.mark.any_database


def call(number: int, tool: str, arguments: JsonObject) -> ToolPart:
    return ToolPart(
        id=f"prt_{number}",
        sessionID="ses_1",
        messageID="msg_1",
        callID=f"call_{number}",
        tool=tool,
        state=ToolPending(input=arguments),
    )


def test_the_third_equal_call_in_a_row_asks_for_all_that_follow(subtests: pytest.Subtests) -> None:
    cases = [
        ("aa", {}),
        ("aaa", {2: 2}),
        ("aaaaa", {2: 2, 3: 2, 4: 2}),
        ("aabaa", {}),
        ("ababab", {}),
        ("aaabbb", {2: 2, 5: 5}),
        ("aaabaaa", {2: 2, 6: 6}),
        ("aa a", {}),
        ("a aaa", {3: 3}),
    ]
    for letters, expected in cases:
        with subtests.test(letters=letters):
            calls, after_text = [], set()
            for letter in letters:
                if letter == " ":
                    after_text.add(f"prt_{len(calls)}")
                else:
                    calls.append(call(len(calls), "read", {"filePath": letter}))
            found = find_repeats(calls, after_text=after_text)
            assert found == {f"prt_{one}": f"call_{asking}" for one, asking in expected.items()}


def test_arguments_are_compared_as_json(subtests: pytest.Subtests) -> None:
    cases = [
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({}, {}, True),
    ]
    for one, other, same in cases:
        with subtests.test(other=other):
            assert bool(
                find_repeats([call(n, "t", item) for n, item in enumerate((one, one, other))])
            ) is (same)
            calls = [call(0, "t", one), call(1, "t", one), call(2, "u", one)]
            assert find_repeats(calls) == {}


def grow(text: str, chunk: int = 40) -> int | None:
    """Returns: after how many characters it was noticed."""
    monologue = Monologue()
    for start in range(0, len(text), chunk):
        if monologue.grow(text[start : start + chunk]):
            return start + chunk
    return None


def test_a_text_that_repeats_itself_without_end_is_noticed(subtests: pytest.Subtests) -> None:
    for chunk in [1, 7, 5_000]:
        for unit in [
            "-",
            "0, ",
            "I will try again. ",
            "a" * 99 + "b",
            "".join(map(str, range(300))),
        ]:
            with subtests.test(unit=unit, chunk=chunk):
                text = "It begins well: " + unit * (4 * WINDOW_CHARS // len(unit))
                noticed = grow(text, chunk)
                assert noticed is not None
                assert noticed <= WINDOW_CHARS + 1_100 + chunk


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"| row {number} | 0 | 0 | 0 |\n" for number in range(2_000)),
        "-" * 5_000,
        ("".join(map(str, range(600)))) * 3,
        "same line\n" * 500 + "".join(f"{number}: other\n" for number in range(900)),
    ],
)
def test_tables_rulers_and_lists_are_no_monologue(text: str) -> None:
    assert grow(text) is None
