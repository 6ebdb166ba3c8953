from __future__ import annotations

import random

from sessions.terminals.input import Typed, Unsent


def test_every_piece_arrives_once_and_in_order_over_a_line_that_loses_and_doubles() -> None:
    # A run of its own for each seed.
    for seed in range(50):
        line = random.Random(seed)
        typed, unsent, arrived = Typed(), Unsent(), ""
        for letter in "the quick brown fox":
            unsent.add(letter)
        while unsent.chars:
            for number, text in unsent.waiting():
                for _ in range(line.choice((0, 1, 1, 2))):
                    if typed.is_next("soc", number):
                        typed.take("soc", number)
                        arrived += text
            if line.random() < 0.7:
                unsent.taken(typed.taken("soc"))
        assert arrived == "the quick brown fox"


def test_sockets_are_counted_apart() -> None:
    typed = Typed()
    typed.take("one", 1)
    assert typed.is_next("one", 2)
    assert typed.is_next("two", 1)
    assert not typed.is_next("two", 2)


def test_only_so_many_sockets_are_remembered() -> None:
    typed = Typed()
    for number in range(1_000):
        typed.take(f"soc_{number}", 7)
    assert typed.taken("soc_999") == 7
    assert typed.taken("soc_1") == 0
