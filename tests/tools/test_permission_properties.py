from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tools.permissions.rules import Action, Level, Rule, Subject, evaluate, is_hidden, judge
from tools.permissions.wildcards import matches, may_match, must_match

ALLOW, ASK, OTHER, DENY = Action.ALLOW, Action.ASK, Action.ASK_OTHER, Action.DENY
SETTINGS = (Level.INSTANCE, Level.TEAM, Level.PROJECT)
TEXTS = st.text(alphabet="ab *?", max_size=8)
PATTERNS = st.text(alphabet="ab *?", max_size=6)
RULES = st.lists(
    st.builds(
        Rule,
        permission=st.sampled_from(["*", "bash", "b*", "edit"]),
        pattern=PATTERNS,
        action=st.sampled_from(Action),
        # No rule is of the agent's level: it is made of those that are about it.
        level=st.sampled_from([level for level in Level if level is not Level.AGENT]),
        for_agent=st.booleans(),
    ),
    max_size=8,
).map(tuple)


def naive_glob(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(naive_glob(text[skip:], pattern[1:]) for skip in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and naive_glob(text[1:], pattern[1:])


def naive_match(text: str, pattern: str) -> bool:
    return naive_glob(text, pattern) or (pattern[-2:] == " *" and naive_glob(text, pattern[:-2]))


def naive_evaluate(permission: str, text: str, rules: tuple[Rule, ...]) -> Action:
    hits = [
        rule
        for rule in rules
        if naive_match(permission, rule.permission) and naive_match(text, rule.pattern)
    ]

    def says(level: Level) -> Action | None:
        mine = [rule.action for rule in hits if rule.level is level]
        return mine[-1] if mine else None

    named = [rule for rule in hits if rule.for_agent and rule.level is not Level.REPOSITORY]
    if named and named[-1].action is DENY:
        return DENY
    settings_say = [said for level in SETTINGS if (said := says(level))]
    strict = [says(Level.POLICY), *settings_say, says(Level.REPOSITORY), says(Level.SESSION)]
    default = says(Level.DEFAULT)
    if DENY in strict or (not settings_say and default is DENY):
        return DENY
    if OTHER in strict:
        return OTHER
    if ASK not in (*strict, says(Level.UNREADABLE)) and (
        ALLOW in settings_say or (not settings_say and ALLOW in (default, says(Level.SESSION)))
    ):
        return ALLOW
    return ALLOW if says(Level.SAVED) else ASK


# Only an ask stands for rules that cannot be read, and only an allow is saved.
def real(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    kinds = {Level.UNREADABLE: ASK, Level.SAVED: ALLOW}
    return tuple(rule for rule in rules if kinds.get(rule.level, rule.action) is rule.action)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(TEXTS, PATTERNS)
def test_a_wildcard_matches_what_a_naive_one_matches(text: str, pattern: str) -> None:
    assert matches(text, pattern) == naive_match(text, pattern)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(alphabet="ab *", max_size=4), st.text(alphabet="ab", max_size=4), PATTERNS)
def test_what_may_and_must_match_is_never_wrong(start: str, rest: str, pattern: str) -> None:
    if matches(start + rest, pattern):
        assert may_match(start, pattern)
    if must_match(start, pattern):
        assert matches(start + rest, pattern)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(TEXTS, RULES)
def test_an_evaluation_is_that_of_a_naive_evaluator(text: str, rules: tuple[Rule, ...]) -> None:
    assert evaluate("bash", text, real(rules)) is naive_evaluate("bash", text, real(rules))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, RULES, RULES, st.sampled_from([Level.REPOSITORY, Level.PROJECT, Level.SESSION]))
def test_no_lower_level_loosens_what_settings_above_it_say(
    text: str, rules: tuple[Rule, ...], more: tuple[Rule, ...], level: Level
) -> None:
    above = tuple(
        rule for rule in rules if rule.level in (Level.INSTANCE, Level.POLICY, Level.TEAM)
    )
    below = tuple(
        Rule(rule.permission, rule.pattern, rule.action, level, rule.for_agent) for rule in more
    )
    order = [ALLOW, ASK, OTHER, DENY]
    if any(matches("bash", rule.permission) and matches(text, rule.pattern) for rule in above):
        alone = evaluate("bash", text, above)
        named = [rule for rule in above if rule.for_agent]
        if not named:
            assert order.index(evaluate("bash", text, (*above, *below))) >= order.index(alone)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, st.lists(TEXTS, max_size=3), RULES)
def test_other_spellings_never_loosen(
    text: str, others: list[str], rules: tuple[Rule, ...]
) -> None:
    order = [ALLOW, ASK, OTHER, DENY]
    alone = judge("bash", [Subject(text)], real(rules)).action
    spelled = judge("bash", [Subject(text, tuple(others))], real(rules)).action
    assert order.index(spelled) >= order.index(alone)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(TEXTS, RULES)
def test_what_is_hidden_is_denied_or_opened_for_some_only(
    text: str, rules: tuple[Rule, ...]
) -> None:
    everything = tuple(
        Rule(rule.permission, "*", rule.action, rule.level, rule.for_agent) for rule in real(rules)
    )
    assert is_hidden("bash", everything) == (evaluate("bash", text, everything) is DENY)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(alphabet="a*?b", min_size=1, max_size=200))
def test_matching_takes_time_that_grows_with_the_text_only(pattern: str) -> None:
    text = "a" * 100_000 + "c"
    started = time.process_time()
    matches(text, pattern)
    assert time.process_time() - started < 0.25
