from __future__ import annotations

import time

import pytest

from tools.edit_match import EditMatchError, match_trimmed_lines, replace_text


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        ("a b c", "b", "X", "a X c"),
        ("one\ntwo\nthree\n", "two\n", "", "one\nthree\n"),
        ("a\n", "a", "$& $1 \\1", "$& $1 \\1\n"),
        ("    x = 1\n    y = 2\n", "x = 1\ny = 2", "z", "z\n"),
        ("def f():\n\treturn 1  \n", "def f():\n    return 1", "g", "g\n"),
        ("\u00a0x\u00a0\n", "  x", "y", "y\n"),
        ("a\n\n  b\nc\n", "a\n\nb\n", "z\n", "z\n\nc\n"),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("  a\r\n  b\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("  x\n\tx \n", "x", "y", "y\n\tx \n"),
        ("  x\n\tx \n", " x\n\tx", "y", " y \n"),
        ("\tb\n\t\tb\n", "  b", "c", "\tb\nc\n"),
    ],
)
def test_what_is_replaced(content: str, old: str, new: str, expected: str) -> None:
    assert replace_text(content, old, new) == expected


@pytest.mark.parametrize(
    ("content", "old"),
    [("a\n", "b"), ("a\n", "A"), ("", "a"), ("a\nb\n", "a\nc"), ("\u201ca\u201d", '"a"')],
)
def test_a_missing_text_is_said_to_be_missing(content: str, old: str) -> None:
    with pytest.raises(EditMatchError, match="not found"):
        replace_text(content, old, "x")


@pytest.mark.parametrize(("content", "old"), [("a a", "a"), ("aaa", "aa"), ("x\nx\n", "x\n")])
def test_an_ambiguous_text_is_refused(content: str, old: str) -> None:
    with pytest.raises(EditMatchError, match="more than once"):
        replace_text(content, old, "z")


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        ("a b a", "a", "$&", "$& b $&"),
        ("aaa", "aa", "b", "ba"),
        ("  x\n  y\n  x\n  y\n", "x\ny", "z", "z\nz\n"),
    ],
)
def test_replace_all_replaces_every_occurrence(
    content: str, old: str, new: str, expected: str
) -> None:
    assert replace_text(content, old, new, replace_all=True) == expected


def test_a_span_much_larger_than_the_text_is_refused() -> None:
    assert replace_text("x" + " " * 400 + "\ny\n", "x\ny", "z") == "z\n"
    with pytest.raises(EditMatchError, match="much larger"):
        replace_text("x" + " " * 600 + "\ny\n", "x\ny", "z")


def test_trimmed_candidates_keep_the_lines_as_they_stand() -> None:
    assert list(match_trimmed_lines("\tb\n\t\tb\n", "  b")) == ["\tb", "\t\tb"]
    assert list(match_trimmed_lines("a\n", "\n")) == [""]


def test_a_large_file_is_searched_quickly() -> None:
    content = "".join(f"    line {number}\n" for number in range(200_000))
    started = time.monotonic()
    changed = replace_text(content, "line 199998\nline 199999", "end")
    assert changed.endswith("line 199997\nend\n")
    assert time.monotonic() - started < 5
