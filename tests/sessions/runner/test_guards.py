from __future__ import annotations

from collections.abc import Iterator

import pytest

from opencode_web.lib.json import JsonObject
from providers.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from sessions.runner.guards import WINDOW_CHARS, Call, Monologue, find_loops

SAME = "The agent makes the same call for the third time in a row."
TURNS = "The agent makes the same two calls in turn, for the third time."
SAID = "The agent says the same for the third time in a row."
LONG = "I will read the file again to be sure that it is what I think it is. " * 4


def call(letter: str) -> Call:
    return Call("read", {"filePath": letter})


def steps(*answers: str, text: str = "") -> list[Message]:
    """One answer each, with a call for each letter; `!` is a word of a person in between."""
    messages: list[Message] = [UserMessage((Text("go"),))]
    for letters in answers:
        if letters == "!":
            messages.append(UserMessage((Text("again, please"),)))
            continue
        calls = tuple(ToolCall(letter, "read", {"filePath": letter}) for letter in letters)
        messages.append(AssistantMessage((Text(text), *calls)))
        messages += [ToolResultMessage(letter, "read", "…", False) for letter in letters]
        messages.append(SystemMessage("The date has changed."))
    return messages


@pytest.mark.parametrize(
    ("earlier", "new", "expected"),
    [
        ([], "aaa", ["", "", SAME]),
        (["a", "a"], "a", [SAME]),
        (["aa"], "a", [SAME]),
        (["a", "a", "a"], "a", [SAME]),
        (["a"], "aa", ["", SAME]),
        (["a", "a"], "b", [""]),
        (["a", "b"], "a", [""]),
        (["a", "a", "!"], "a", [""]),
        (["!", "a", "a"], "a", [SAME]),
        (["a", "b", "a", "b", "a"], "b", [TURNS]),
        (["ab", "ab"], "ab", ["", TURNS]),
        (["ab", "ab", "!"], "ab", ["", ""]),
        (["b", "a", "b", "a"], "b", [""]),
        (["a", "b", "c", "a", "b"], "c", [""]),
        (["c", "ab", "ab"], "ab", ["", TURNS]),
    ],
)
def test_calls_in_a_circle_are_found(earlier: list[str], new: str, expected: list[str]) -> None:
    assert find_loops(steps(*earlier), [call(letter) for letter in new], "") == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({}, {}, True),
    ],
)
def test_arguments_are_compared_as_json(one: JsonObject, other: JsonObject, same: bool) -> None:
    assert Call("t", one).is_same(Call("t", other)) is same
    assert not Call("t", one).is_same(Call("u", one))


@pytest.mark.parametrize(
    ("text", "new", "count", "expected"),
    [
        (LONG, LONG, 2, [SAID]),
        (LONG, f"{LONG}\n", 2, [SAID]),
        (LONG, LONG, 1, [""]),
        (LONG, f"{LONG} Or not.", 2, [""]),
        ("Let me look.", "Let me look.", 2, [""]),
    ],
)
def test_the_same_long_text_beside_different_calls_is_found(
    text: str, new: str, count: int, expected: list[str]
) -> None:
    earlier = steps(*"xy"[:count], text=text)
    assert find_loops(earlier, [call("z")], new) == expected


class Counted(list[Message]):
    seen = 0

    def __reversed__(self) -> Iterator[Message]:  # type: ignore[override]
        for message in super().__reversed__():
            self.seen += 1
            yield message


def test_only_the_last_few_messages_of_a_long_turn_are_read() -> None:
    history = Counted(steps(*(["a", "b", "c"] * 500)))
    assert find_loops(history, [call("a")], LONG) == [""]
    assert history.seen <= 3 * (5 + 2)


def grow(text: str, chunk: int = 40) -> int | None:
    """Returns: after how many characters it was noticed."""
    monologue = Monologue()
    for start in range(0, len(text), chunk):
        if monologue.grow(text[start : start + chunk]):
            return start + chunk
    return None


@pytest.mark.parametrize(
    "unit",
    ["-", "0, ", "I will try again. ", "a" * 99 + "b", "".join(map(str, range(300)))],
)
@pytest.mark.parametrize("chunk", [1, 7, 5_000])
def test_a_text_that_repeats_itself_without_end_is_noticed(unit: str, chunk: int) -> None:
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
