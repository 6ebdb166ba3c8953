from __future__ import annotations

import random

import pytest

from sessions.stream.cursor import WINDOW, Cursor


@pytest.mark.parametrize("text", ["0", "1042", "1042-5", "9-1"])
def test_it_reads_what_it_wrote(text: str) -> None:
    assert str(Cursor.parse(text)) == text


def test_it_does_not_read_what_is_not_its_own(subtests: pytest.Subtests) -> None:
    for text in ["", "evt_1", "-1", "1-", "1-g", "1" * 19, "1-" + "f" * 65, "1;2"]:
        with subtests.test(text=text):
            assert Cursor.parse(text) is None


def test_ids_passed_over_are_missing_until_they_come() -> None:
    cursor = Cursor(10).add(13)
    assert [n for n in range(8, 16) if cursor.has(n)] == [8, 9, 10, 13]
    assert cursor.missing_ids() == [12, 11]
    late = cursor.add(11)
    assert late.newest == 13
    assert late.missing_ids() == [12]
    assert str(late.add(12)) == "13"


def test_what_is_older_than_the_window_counts_as_come() -> None:
    cursor = Cursor(5).add(5 + 2 * WINDOW)
    assert not cursor.has(5 + 2 * WINDOW - WINDOW)
    assert cursor.has(5 + WINDOW - 1)
    assert len(cursor.missing_ids()) == WINDOW


def test_it_remembers_exactly_what_was_sent_in_any_order() -> None:
    shuffle = random.Random(7)
    ids = list(range(101, 101 + WINDOW))
    shuffle.shuffle(ids)
    cursor, sent = Cursor(100), set()
    for number in ids:
        assert not cursor.has(number)
        cursor = Cursor.parse(str(cursor.add(number))) or cursor
        sent.add(number)
        newest = max(sent)
        assert set(cursor.missing_ids()) == set(range(101, newest)) - sent
