from __future__ import annotations

from datetime import UTC, datetime, timedelta

from providers.room import ALIVE, LOOK, MINUTE, Key, KeyPool, Use

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def use(
    number: int,
    key: int | None = None,
    *,
    tokens: int = 0,
    began_s: float | None = None,
    ended: bool = False,
    alive_s: float = 30,
    asker: str = "",
    turn: int = 0,
) -> Use:
    started = None if key is None else NOW - timedelta(seconds=began_s or 0)
    alive = NOW + timedelta(seconds=alive_s)
    over = NOW if ended else None
    return Use(number, f"c{number}", key, tokens, started, over, alive, asker, turn)


def chosen(keys: list[Key], uses: list[Use], call: str = "me", *, tokens: int = 10) -> int | None:
    found = KeyPool(keys, uses, NOW).choose(call, tokens=tokens)
    return found.id if found else None


def test_the_key_that_was_used_least_lately_is_chosen() -> None:
    earlier, later = NOW - timedelta(seconds=9), NOW - timedelta(seconds=1)
    assert chosen([Key(1, later), Key(2, earlier)], []) == 2
    assert chosen([Key(1, later), Key(2, earlier), Key(3)], []) == 3


def test_a_key_takes_as_many_calls_as_it_may_and_no_more() -> None:
    assert chosen([Key(1, max_calls=2)], [use(1, 1)]) == 1
    assert chosen([Key(1, max_calls=2)], [use(1, 1), use(2, 1)]) is None
    assert chosen([Key(1, max_calls=2)], [use(1, 1), use(2, 1, ended=True)]) == 1
    assert chosen([Key(1, max_calls=1), Key(2, NOW, max_calls=1)], [use(1, 1)]) == 2


def test_the_place_of_a_call_whose_process_has_died_is_free() -> None:
    assert chosen([Key(1, max_calls=1)], [use(1, 1, alive_s=-1)]) == 1


def test_who_came_first_goes_first() -> None:
    keys, uses = [Key(1, max_calls=2)], [use(1, 1), use(2), use(3)]
    assert chosen(keys, uses, "c2") == 1
    assert chosen(keys, uses, "c3") is None
    assert chosen(keys, uses, "new") is None
    assert KeyPool(keys, uses, NOW).next_calls() == ["c2"]


def test_who_waits_no_longer_keeps_nobody_waiting() -> None:
    uses = [use(1, 1), use(2, alive_s=-1), use(3)]
    assert chosen([Key(1, max_calls=2)], uses, "c3") == 1


def test_tokens_count_for_a_minute_from_the_begin_of_their_call() -> None:
    keys = [Key(1, tokens_per_minute=1_000)]
    spent = [use(1, 1, tokens=600, began_s=50, ended=True), use(2, 1, tokens=300, began_s=10)]
    assert chosen(keys, spent, tokens=100) == 1
    assert chosen(keys, spent, tokens=101) is None
    assert KeyPool(keys, spent, NOW).look_again_at() == NOW + timedelta(seconds=10)
    old = [use(1, 1, tokens=600, began_s=61, ended=True), spent[1]]
    assert chosen(keys, old, tokens=700) == 1


def test_what_is_more_than_a_minute_may_have_goes_alone() -> None:
    keys = [Key(1, tokens_per_minute=1_000)]
    assert chosen(keys, [], tokens=5_000) == 1
    assert chosen(keys, [use(1, 1, tokens=1, began_s=1)], tokens=5_000) is None


def test_what_is_more_than_a_minute_may_have_counts_as_all_of_it() -> None:
    keys = [Key(1, tokens_per_minute=1_000)]
    alone = KeyPool(keys, [use(1, tokens=5_000, asker="ann")], NOW)
    assert alone.choose("c1", tokens=5_000) == keys[0]
    assert chosen(keys, [use(1, 1, tokens=5_000, began_s=61, ended=True)], tokens=10) == 1


def test_a_line_is_served_in_rounds_with_one_turn_of_each() -> None:
    keys = [Key(1, tokens_per_minute=1_000)]
    waiting: list[Use] = []
    for number, asker in enumerate(["ann", "ann", "ann", "bob", "ann", "eve"]):
        turn = KeyPool(keys, waiting, NOW).turn_of(asker)
        waiting.append(use(number, tokens=5_000, asker=asker, turn=turn))
    served = []
    while waiting:
        # A minute later nothing is known of who was served before.
        pool = KeyPool(keys, waiting, NOW)
        first = next(one for one in waiting if pool.choose(one.call, tokens=5_000))
        served.append(first.asker)
        waiting.remove(first)
        if len(served) == 2:
            turn = KeyPool(keys, waiting, NOW).turn_of("zoe")
            waiting.append(use(10, tokens=5_000, asker="zoe", turn=turn))
    assert served == ["ann", "bob", "eve", "zoe", "ann", "ann", "ann"]


def test_who_was_served_just_now_is_not_new() -> None:
    served = use(1, 1, asker="bob", ended=True)
    waiting = [use(2, asker="ann", turn=1), use(3, asker="eve")]
    assert KeyPool([Key(1)], [served, *waiting], NOW).turn_of("bob") == 1
    assert KeyPool([Key(1)], waiting, NOW).turn_of("bob") == 0


def test_who_comes_new_goes_before_the_second_turn_of_others() -> None:
    waiting = [use(2, asker="ann"), use(3, asker="ann", turn=1), use(4, asker="ann", turn=2)]
    pool = KeyPool([Key(1, max_calls=3)], [use(1, 1), *waiting], NOW)
    assert pool.choose("new", tokens=1, asker="bob")
    assert pool.choose("new", tokens=1, asker="ann") is None


def test_a_key_without_limits_has_room_for_everybody() -> None:
    keys = [Key(1, max_calls=1), Key(2)]
    uses = [use(1, 1), use(2), use(3)]
    assert chosen(keys, uses, "c3") == 2
    assert KeyPool(keys, uses, NOW).next_calls() == ["c2", "c3"]


def test_a_turn_looks_again_before_it_would_be_forgotten() -> None:
    assert KeyPool([Key(1, max_calls=1)], [use(1, 1)], NOW).look_again_at() == NOW + LOOK
    assert LOOK < ALIVE
    assert LOOK < MINUTE
