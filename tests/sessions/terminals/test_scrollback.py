from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.terminals.scrollback import Scrollback, ScrollbackPiece, count_units


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(("text", "count"), [("", 0), ("abc", 3), ("žluť", 4), ("a🙂b", 4)])
def test_units_are_those_of_javascript(text: str, count: int) -> None:
    assert count_units(text) == count


def test_pieces_know_where_they_are() -> None:
    kept = Scrollback(100)
    assert kept.add("ab") == ScrollbackPiece(0, "ab")
    assert kept.add("🙂") == ScrollbackPiece(2, "🙂")
    assert kept.end == 4
    assert kept.read(1, most=100) == ScrollbackPiece(1, "b🙂")
    assert kept.read(99, most=100) == ScrollbackPiece(4, "")


def test_only_the_newest_is_kept() -> None:
    kept = Scrollback(10)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        kept.add(letter)
    assert kept.end == 26
    assert kept.start >= 13
    assert kept.read(0, most=100) == ScrollbackPiece(
        kept.start, "abcdefghijklmnopqrstuvwxyz"[kept.start :]
    )


def test_a_character_is_not_cut_in_two() -> None:
    kept = Scrollback(100)
    kept.add("a🙂🙂")
    first = kept.read(0, most=2)
    assert first == ScrollbackPiece(0, "a")
    assert kept.read(first.end, most=3) == ScrollbackPiece(1, "🙂")
    assert kept.read(3, most=10) == ScrollbackPiece(3, "🙂")


def test_half_a_character_that_somebody_has_is_replaced_and_counted() -> None:
    assert ScrollbackPiece(10, "🙂b").after(11).end == 13


@given(st.lists(st.text(max_size=20), max_size=30), st.integers(0, 60), st.integers(2, 9))
def test_reading_on_gives_what_was_written(texts: list[str], at: int, most: int) -> None:
    kept = Scrollback(40)
    whole = ""
    for text in texts:
        kept.add(text)
        whole += text
    assert kept.end == units(whole)
    position, read = kept.start, b""
    while position < kept.end:
        piece = kept.read(position, most=most)
        assert piece.at == position
        assert piece.end > position
        read += piece.text.encode("utf-16-le")
        position = piece.end
    assert len(read) // 2 == kept.end - kept.start
    # The first may be the half of a character whose other half is gone.
    assert whole.encode("utf-16-le").endswith(read[2:])


@given(st.text(max_size=30), st.integers(0, 40), st.integers(0, 80))
def test_the_rest_of_a_piece_ends_where_it_does(text: str, at: int, position: int) -> None:
    piece = ScrollbackPiece(at, text)
    rest = piece.after(position)
    if at <= position <= piece.end:
        assert rest.at == position
        assert rest.end == piece.end
    if position <= at:
        assert rest == piece
