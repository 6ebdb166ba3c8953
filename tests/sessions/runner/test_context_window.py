from __future__ import annotations

import pytest

from providers.llm.facts import Limit
from sessions.config.model import CompactionConfig
from sessions.runner.compaction.context_window import (
    Output,
    Size,
    is_full,
    is_in_vain,
    prunable,
    tail_budget,
    tail_start,
    usable_tokens,
)

CONFIG = CompactionConfig()


def test_what_of_a_models_context_may_be_used(subtests: pytest.Subtests) -> None:
    cases = [
        (Limit(context=200_000, output=32_000), None, 168_000),
        (Limit(context=200_000, output=8_000), None, 192_000),
        (Limit(context=200_000, output=64_000), None, 168_000),
        (Limit(context=200_000), None, 168_000),
        # Only a limit of the input itself looks at what is reserved.
        (Limit(context=200_000, output=8_000), 50_000, 192_000),
        (Limit(context=400_000, output=128_000, input=272_000), None, 252_000),
        (Limit(context=400_000, output=5_000, input=272_000), None, 267_000),
        (Limit(context=400_000, output=128_000, input=272_000), 100, 271_900),
        (Limit(context=400_000, output=128_000, input=272_000), 0, 272_000),
        # The answer may fill all of it.
        (Limit(context=8_192, output=8_192), None, 4_096),
        (Limit(context=8_192), None, 4_096),
        (Limit(context=4_000, output=1_000, input=3_000), 9_000, 1_500),
        (Limit(), None, None),
    ]
    for limit, reserved, usable in cases:
        with subtests.test(limit=limit, reserved=reserved):
            assert usable_tokens(limit, CompactionConfig(reserved=reserved)) == usable


@pytest.mark.parametrize(
    ("tokens", "auto", "full"),
    [(167_999, True, False), (168_000, True, True), (400_000, True, True), (400_000, False, False)],
)
def test_a_context_is_full_from_the_usable_tokens_on(tokens: int, auto: bool, full: bool) -> None:
    limit = Limit(context=200_000, output=32_000)
    assert is_full(tokens, limit, CompactionConfig(auto=auto)) is full


def test_a_model_with_unknown_limits_is_never_full() -> None:
    assert not is_full(10**9, Limit(), CONFIG)


def outputs(*tokens: int, tool: str = "read", turns_after: int = 2) -> list[Output]:
    return [Output(tool, one, turns_after, False) for one in tokens]


PRUNED = Output("read", 30_000, 2, True)
SKILL = Output("skill", 90_000, 5, False)


def test_old_outputs_are_chosen_for_pruning(subtests: pytest.Subtests) -> None:
    cases = [
        ([], []),
        (outputs(10_000, 20_001, 40_000), [0, 1]),
        # The newest 40,000 stay, to the token.
        (outputs(30_000, 40_000), [0]),
        (outputs(30_000, 40_001), [0, 1]),
        # Together they have to be more than 20,000.
        (outputs(20_000, 40_000), []),
        (outputs(20_001, 40_000), [0]),
        (outputs(5_000, 5_000, 5_000, 5_000, 5_000, 40_000), [0, 1, 2, 3, 4]),
        # The two newest turns do not count at all.
        ([*outputs(30_000, 40_000), *outputs(90_000, turns_after=1)], [0]),
        (outputs(90_000, 90_000, turns_after=1), []),
        (outputs(90_000, 90_000, turns_after=0), []),
        ([SKILL, *outputs(30_000, 40_000)], [1]),
        (outputs(90_000, 40_000, tool="skill"), []),
        # What stands before a pruned one was looked at then.
        ([*outputs(90_000), PRUNED, *outputs(40_000)], []),
        ([PRUNED, *outputs(30_000, 40_000)], [1]),
    ]
    for given, chosen in cases:
        with subtests.test(given=given):
            assert prunable(given) == chosen


def test_a_quarter_is_kept_within_bounds(subtests: pytest.Subtests) -> None:
    cases = [
        (4_000, None, 2_000),
        (8_000, None, 2_000),
        (20_000, None, 5_000),
        (60_000, None, 15_000),
        (168_000, None, 15_000),
        (168_000, 100, 100),
        (168_000, 0, 0),
        (4_000, 90_000, 90_000),
    ]
    for usable, preserve, budget in cases:
        with subtests.test(usable=usable, preserve=preserve):
            config = CompactionConfig(preserve_recent_tokens=preserve)
            assert tail_budget(usable, config) == budget


def sizes(text: str) -> list[Size]:
    """`p` and `a` are prompts and answers, with hundreds of tokens."""
    return [Size(int(one[1:]) * 100, one[0] == "p") for one in text.split()]


def test_the_tail_is_what_fits_from_the_end(subtests: pytest.Subtests) -> None:
    cases = [
        # The newest turn fits.
        ("p1 a9 p1 a9", None, 2),
        ("p1 a9 p1 a5 p1 a2", None, 2),
        # Of a turn that does not fit, its newest messages do.
        ("p1 a9 p1 a9 a5 a4", None, 4),
        ("p1 a9 p1 a20", None, 4),
        ("p9 a20 p1 a9 p1 a2", None, 4),
        # Everything would fit: then nothing would be left to sum up.
        ("p1 a2 p1 a2", None, 4),
        # Prompts without an answer are kept in any case.
        ("p1 a2 p1 a2 p1", None, 4),
        ("p1 a9 p50", None, 2),
        ("p1 a9 p5 p50", None, 2),
        ("p50", None, 0),
        ("p9 a9 p1 a4 p1", None, 2),
        ("", None, 0),
        # As few turns as the settings say.
        ("p9 a9 p1 a1 p1 a1", 1, 4),
        ("p9 a9 p1 a1 p1 a1", 2, 2),
        ("p9 a9 p1 a1 p1 a1", 0, 6),
        ("p9 a9 p1 a1 p1 a1", -1, 6),
        ("p9 a9 p1 a1 p1", 1, 4),
        ("p9 a9 p1 a1 p1", 0, 4),
    ]
    for given, turns, start in cases:
        with subtests.test(given=given, turns=turns):
            assert tail_start(sizes(given), budget=1_000, turns=turns) == start


def test_a_compaction_without_gain_was_in_vain(subtests: pytest.Subtests) -> None:
    cases = [
        (100_000, 95_000, None, False),
        (100_000, 95_001, None, True),
        (100_000, 120_000, None, True),
        (100_000, 10_000, 10_001, False),
        # It has got smaller, but the next answer would be followed by another compaction.
        (100_000, 10_000, 10_000, True),
    ]
    for before, after, usable, vain in cases:
        with subtests.test(after=after, usable=usable):
            assert is_in_vain(before, after, usable) is vain
