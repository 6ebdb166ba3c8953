from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.truncate import (
    MAX_BYTES,
    MAX_LINES,
    Limit,
    Truncation,
    cut_bytes,
    keep_both,
    keep_head,
    keep_tail,
)


@pytest.mark.parametrize("keep", [keep_head, keep_tail])
@pytest.mark.parametrize("end", ["", "\n"])
def test_exactly_two_thousand_lines_are_kept(keep: object, end: str) -> None:
    text = "\n".join("x" for _ in range(MAX_LINES)) + end
    kept = keep(text)  # type: ignore[operator]
    assert kept.text == text
    assert not kept.truncated
    assert kept.total_lines == kept.kept_lines == MAX_LINES


def test_one_line_more_is_cut_at_the_end_or_at_the_start() -> None:
    text = "".join(f"{number}\n" for number in range(MAX_LINES + 1))
    head, tail = keep_head(text), keep_tail(text)
    assert head.limit is tail.limit is Limit.LINES
    assert head.text.startswith("0\n")
    assert head.text.endswith(f"\n{MAX_LINES - 1}\n")
    assert tail.text.startswith("1\n")
    assert tail.text.endswith(f"\n{MAX_LINES}\n")
    assert head.left_out == "1 lines"


@pytest.mark.parametrize("keep", [keep_head, keep_tail])
def test_exactly_the_byte_limit_is_kept(keep: object) -> None:
    text = "a" * (MAX_BYTES - 1) + "\n"
    assert keep(text).text == text  # type: ignore[operator]
    assert keep("b" + text).limit is Limit.BYTES  # type: ignore[operator]


def test_only_whole_lines_are_kept_when_bytes_end_it() -> None:
    kept = keep_head("aaaa\nbbbb\ncccc\n", max_bytes=12)
    assert kept.text == "aaaa\nbbbb\n"
    assert kept.limit is Limit.BYTES
    assert (kept.kept_lines, kept.kept_bytes, kept.total_lines, kept.total_bytes) == (2, 10, 3, 15)
    assert kept.left_out == "5 bytes"
    assert keep_tail("aaaa\nbbbb\ncccc\n", max_bytes=12).text == "bbbb\ncccc\n"


def test_a_long_line_is_cut_between_characters(subtests: pytest.Subtests) -> None:
    for size in range(1, 12):
        with subtests.test(size=size):
            text = "aé€😀b"
            head = keep_head(text, max_bytes=size)
            tail = keep_tail(text, max_bytes=size)
            for kept in (head, tail):
                assert "\ufffd" not in kept.text
                assert kept.kept_bytes == len(kept.text.encode()) <= size
            assert text.startswith(head.text)
            assert text.endswith(tail.text)


def test_nothing_stays_nothing() -> None:
    assert keep_head("").text == ""
    assert keep_head("").total_lines == 0


def test_lone_surrogates_do_not_break_it() -> None:
    assert keep_head("a\ud800b").text == "a?b"


def test_other_line_ends_do_not_count_as_lines() -> None:
    assert keep_head("a\fb\u2028c\rd").total_lines == 1


@pytest.mark.parametrize("from_end", [True, False])
def test_bytes_within_the_size_are_left_alone(from_end: bool) -> None:
    assert cut_bytes(b"abc", size=3, from_end=from_end) == b"abc"


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\n\n\r\x0b\u2028é€😀"),
    max_size=300,
)
BOUNDS = st.integers(1, 40)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, lines=BOUNDS, size=st.integers(1, 200))
@pytest.mark.parametrize("keep", [keep_head, keep_tail, keep_both])
def test_bounds_hold_and_nothing_is_miscounted(
    keep: Callable[..., Truncation], text: str, lines: int, size: int
) -> None:
    kept = keep(text, max_lines=lines, max_bytes=size)
    data, first, last = text.encode(), kept.text.encode(), kept.end.encode()
    assert len(first) + len(last) == kept.kept_bytes <= size
    assert kept.total_bytes == len(data)
    assert kept.total_lines == text.count("\n") + (not text.endswith("\n") and text != "")
    assert kept.kept_lines <= lines
    # No character is split, and nothing is between the ends that was not there.
    assert "\ufffd" not in (kept.text + kept.end).replace("\ufffd" if "\ufffd" in text else "", "")
    if keep is keep_tail:
        assert data.endswith(first)
    else:
        assert data.startswith(first)
        assert data.endswith(last)
    if not kept.truncated:
        assert kept.text == text
        return
    assert text.count("\n") >= lines or len(data) > size
    missing = kept.total_bytes - kept.kept_bytes
    if kept.limit is Limit.BYTES:
        assert kept.left_out == f"{missing} bytes"
    else:
        assert kept.left_out == f"{kept.total_lines - kept.kept_lines} lines"
        gap = data[len(first) : len(data) - len(last)] if keep is not keep_tail else data[:missing]
        assert gap.count(b"\n") + (not gap.endswith(b"\n")) == (kept.total_lines - kept.kept_lines)


def test_both_ends_are_kept_with_as_much_of_each() -> None:
    kept = keep_both("".join(f"{number}\n" for number in range(10)), max_lines=5)
    assert (kept.text, kept.end, kept.left_out) == ("0\n1\n2\n", "8\n9\n", "5 lines")
    long = keep_both("a" * 50 + "b" * 50, max_bytes=11)
    assert (long.text, long.end, long.left_out) == ("a" * 6, "b" * 5, "89 bytes")
