from __future__ import annotations

import pytest

from tools.truncate import MAX_BYTES, MAX_LINES, Limit, cut_bytes, keep_head, keep_tail


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


@pytest.mark.parametrize("size", range(1, 12))
def test_a_long_line_is_cut_between_characters(size: int) -> None:
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
