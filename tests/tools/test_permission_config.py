from __future__ import annotations

import pytest

from tools.permissions.config import parse_config, parse_ruleset
from tools.permissions.rules import Action, Rule, evaluate

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


def test_it_rejects_a_pattern_of_more_than_200_characters(subtests: pytest.Subtests) -> None:
    cases = [
        {"bash": {"x" * 201: "allow"}},
        {"x" * 201: "allow"},
        {"tools": {"x" * 201: True}},
        {"permissions": {"bash": {"deny": ["x" * 201]}}},
        {"permission": [{"permission": "bash", "pattern": "x" * 201, "action": "deny"}]},
    ]
    for config in cases:
        with subtests.test(config=config):
            wrapped = config if {"tools", "permissions", "permission"} & set(config) else None
            with pytest.raises(ValueError, match="longer than 200 characters"):
                parse_config(wrapped or {"permission": config})


def test_a_list_of_rules_is_read_as_it_is() -> None:
    rules = [{"permission": "edit", "pattern": "*.md", "action": "allow"}]
    assert parse_ruleset(rules) == (Rule("edit", "*.md", ALLOW),)  # type: ignore[arg-type]


def test_the_home_in_patterns_is_the_one_of_commands(subtests: pytest.Subtests) -> None:
    cases = [
        ("~/keys/*", "/agent/keys/*"),
        ("$HOME/keys", "/agent/keys"),
        ("~", "/agent"),
        ("~x/*", "~x/*"),
        ("a/~/b", "a/~/b"),
    ]
    for pattern, meant in cases:
        with subtests.test(pattern=pattern):
            (rule,) = parse_ruleset({"external_directory": {pattern: "allow"}})
            assert rule.pattern == meant


def test_nothing_configured_is_no_rule() -> None:
    assert parse_ruleset(None) == ()


def test_it_rejects_what_it_does_not_understand(subtests: pytest.Subtests) -> None:
    cases = [
        "maybe",
        {"edit": "maybe"},
        {"edit": {"*": None}},
        {"edit": ["allow"]},
        5,
        [{"permission": "edit"}],
        [{"permission": "edit", "pattern": "*", "action": "perhaps"}],
    ]
    for config in cases:
        with (
            subtests.test(config=config),
            pytest.raises(ValueError, match=r"permission|rule"),
        ):
            parse_ruleset(config)


def test_the_tools_map_becomes_rules_and_write_counts_as_edit() -> None:
    ruleset = parse_config({"tools": {"write": False, "bash": True}})
    assert ruleset == (Rule("edit", "*", DENY), Rule("bash", "*", ALLOW))


def test_older_lists_keep_first_match_wins() -> None:
    ruleset = parse_config(
        {"permissions": {"bash": {"allow": ["npm test*"], "deny": ["npm *", "rm -rf *"]}}}
    )
    assert evaluate("bash", "npm test unit", ruleset) is ALLOW
    assert evaluate("bash", "npm publish", ruleset) is DENY
    assert evaluate("bash", "rm -rf /", ruleset) is DENY
    assert evaluate("bash", "ls", ruleset) is ASK


def test_todays_form_has_the_last_word_over_the_older_ones() -> None:
    ruleset = parse_config(
        {"permission": {"bash": "allow"}, "tools": {"bash": False}, "permissions": {}}
    )
    assert evaluate("bash", "ls", ruleset) is ALLOW


def test_it_rejects_broken_older_forms(subtests: pytest.Subtests) -> None:
    cases = [
        {"tools": []},
        {"tools": {"bash": "no"}},
        {"permissions": []},
        {"permissions": {"bash": []}},
        {"permissions": {"bash": {"allow": "x"}}},
        {"permissions": {"bash": {"maybe": ["x"]}}},
    ]
    for config in cases:
        with (
            subtests.test(config=config),
            pytest.raises(ValueError, match=r"tools|permissions"),
        ):
            parse_config(config)
