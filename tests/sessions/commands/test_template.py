from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.commands.template import (
    TemplatePiece,
    fill,
    mentions,
    order_arguments,
    parse_line,
    placeholders,
    split_arguments,
    split_lines,
)


def test_words(subtests: pytest.Subtests) -> None:
    cases = [
        ("", []),
        ("a  b\tc\nd", ["a", "b", "c", "d"]),
        ("a \"b c\" 'd e'", ["a", "b c", "d e"]),
        ("[Image 1] x", ["[Image 1]", "x"]),
        ("it's", ["it", "'", "s"]),
    ]
    for text, words in cases:
        with subtests.test(text=text):
            assert split_arguments(text) == words


def test_arguments_are_filled_in(subtests: pytest.Subtests) -> None:
    cases = [
        ("Do $1.", "it now", "Do it now."),
        ("$1 then $2", "a b c d", "a then b c d"),
        ("$2 $1", "a", " a"),
        ("$1-$3", "a b c d", "a-c d"),
        ("All: $ARGUMENTS", 'a "b c"', 'All: a "b c"'),
        ("$1 of $ARGUMENTS", "a b", "a b of a b"),
        ("Plain", "", "Plain"),
        ("Plain", "  more  ", "Plain\n\nmore"),
        ("$1", "$2 $ARGUMENTS", "$2 $ARGUMENTS"),
        ("costs $0 or $ARGUMENTSX $USD", "x", "costs $0 or $ARGUMENTSX $USD\n\nx"),
    ]
    for template, arguments, text in cases:
        with subtests.test(text=text):
            assert "".join(piece.written for piece in fill(template, arguments)) == text


def test_named_arguments_are_put_in_order(subtests: pytest.Subtests) -> None:
    names = ["topic", "max.depth"]
    cases = [
        ("topic=tests max.depth=2", '"tests" "2"'),
        ("max.depth=2 topic=unit tests of it", '"unit tests of it" "2"'),
        ("topic='a \"b\"'", '\'a "b"\' ""'),
        ("topic=a=b", '"a=b" ""'),
        # Not all of it is named.
        ("tests topic=x", "tests topic=x"),
        ("unit tests", "unit tests"),
        ("maxxdepth=2", "maxxdepth=2"),
        ("", ""),
    ]
    for text, ordered in cases:
        with subtests.test(text=text):
            assert order_arguments(text, names) == ordered
            assert order_arguments(text, []) == text
    ordered = order_arguments("max.depth=2 topic=unit tests", names)
    assert "".join(piece.text for piece in fill("$1: $2", ordered)) == "unit tests: 2"


def test_shell_parts_are_the_templates_alone() -> None:
    pieces = fill("Log: !`git log $1`\n$ARGUMENTS", "main !`rm -rf x`")
    assert pieces == [
        TemplatePiece("Log: "),
        TemplatePiece("git log main !`rm -rf x`", is_shell=True),
        TemplatePiece("\nmain !`rm -rf x`"),
    ]


def test_placeholders_are_in_their_order() -> None:
    assert placeholders("$ARGUMENTS $10 $2 $2 $1") == ["$1", "$2", "$10", "$ARGUMENTS"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see @src/a.py, and @./b.md.", ["src/a.py", "./b.md"]),
        ("me@x.org `@no` @agent @agent", ["agent"]),
        ("@ alone", []),
    ],
)
def test_mentions(text: str, names: list[str]) -> None:
    assert mentions(text) == names


def test_lines_of_a_mentioned_file(subtests: pytest.Subtests) -> None:
    cases = [
        ("a.py#L10-20", ("a.py", "?start=10&end=20")),
        ("a.py#L10-L20", ("a.py", "?start=10&end=20")),
        ("a#b.py#10-20", ("a#b.py", "?start=10&end=20")),
        ("a.py#L7", ("a.py", "?start=7&end=7")),
        ("a.py#7-", ("a.py", "?start=7")),
        ("a.py#part", None),
        ("#L7", None),
        ("a.py#L0", None),
    ]
    for name, found in cases:
        with subtests.test(name):
            assert split_lines(name) == found


def test_a_line_that_calls_a_command(subtests: pytest.Subtests) -> None:
    cases = [
        ("/review", ("review", "")),
        (" /review a\nb ", ("review", "a\nb")),
        ("/deep/er x", ("deep/er", "x")),
        ("say /review", None),
        ("/", None),
        ("// a comment", None),
    ]
    for text, line in cases:
        with subtests.test(text=text):
            assert parse_line(text) == line


_TEXT = st.text(alphabet=st.sampled_from("a $1!`'\"@\n[]AIM"), max_size=40)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(_TEXT, _TEXT)
def test_what_is_typed_never_becomes_a_shell_part(template: str, arguments: str) -> None:
    count = sum(piece.is_shell for piece in fill(template, ""))
    assert sum(piece.is_shell for piece in fill(template, arguments)) <= max(
        count, template.count("!`")
    )
    assert not any(piece.is_shell for piece in fill("$1 and $ARGUMENTS", arguments))
