from __future__ import annotations

import time
from typing import Any

import pytest

from tools.permissions import (
    AGENT_DEFAULTS,
    DEFAULTS,
    Action,
    Rule,
    decide,
    evaluate,
    is_hidden,
    matches,
    parse_config,
    parse_ruleset,
    relevant_rules,
)

ALLOW, ASK, DENY = Action.ALLOW, Action.ASK, Action.DENY


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("*", "", True),
        ("*", "a/b/c", True),
        ("git *", "git", True),
        ("git *", "git status", True),
        ("git *", "git-lfs", False),
        ("git*", "git-lfs", True),
        ("*.env", "config/.env", True),
        ("*.env", ".env.local", False),
        ("*.env.*", ".env.local", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a?c", "a\nc", True),
        ("*", "two\nlines", True),
        ("src/*", "src/a/b.py", True),
        ("src/*", "test/src/a.py", False),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("A", "a", False),
        ("a\\b", "a/b", True),
        ("*a*b*c", "xxaxxbxxc", True),
        ("*a*b*c", "xxaxxcxxb", False),
        ("rm * /", "rm -rf /", True),
        ("a**b", "ab", True),
        ("?", "*", True),
    ],
)
def test_wildcards(pattern: str, text: str, expected: bool) -> None:
    assert matches(text, pattern) is expected


def test_a_hostile_pattern_takes_no_time() -> None:
    started = time.monotonic()
    assert not matches("a" * 5_000, "*a" * 30 + "*b")
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("config", "permission", "pattern", "expected"),
    [
        ({}, "edit", "a.py", ASK),
        ("allow", "anything", "x", ALLOW),
        ({"*": "allow", "edit": "deny"}, "edit", "a.py", DENY),
        ({"edit": "deny", "*": "allow"}, "edit", "a.py", ALLOW),
        ({"bash": {"*": "deny", "git *": "allow"}}, "bash", "git log", ALLOW),
        ({"bash": {"git *": "allow", "*": "deny"}}, "bash", "git log", DENY),
        ({"bash": {"*": "deny", "git *": "allow"}}, "edit", "git log", ASK),
        ({"my_*": "allow"}, "my_tool", "x", ALLOW),
        ({"write": "allow"}, "edit", "a.py", ASK),
    ],
)
def test_the_last_matching_rule_wins(
    config: Any, permission: str, pattern: str, expected: Action
) -> None:
    assert evaluate(permission, pattern, parse_ruleset(config)) is expected


@pytest.mark.parametrize(
    ("config", "hidden"),
    [
        ({"bash": "deny"}, True),
        ({"*": "deny"}, True),
        ({"*": "deny", "bash": "ask"}, False),
        ({"bash": {"*": "deny", "echo *": "allow"}}, False),
        ({"bash": {"echo *": "allow", "*": "deny"}}, True),
        ({"bash": {"rm *": "deny"}}, False),
        ({}, False),
    ],
)
def test_a_tool_is_hidden_when_its_last_rule_denies_everything(config: Any, hidden: bool) -> None:
    assert is_hidden("bash", parse_ruleset(config)) is hidden


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["git log"], ALLOW),
        (["git log", "ls"], ASK),
        (["git log", "rm x", "ls"], DENY),
        ([], ALLOW),
    ],
)
def test_one_denied_pattern_denies_and_all_must_be_allowed(
    patterns: list[str], expected: Action
) -> None:
    ruleset = parse_ruleset({"bash": {"*": "ask", "git *": "allow", "rm *": "deny"}})
    assert decide("bash", patterns, ruleset) is expected


def test_a_list_of_rules_is_read_as_it_is() -> None:
    rules = [{"permission": "edit", "pattern": "*.md", "action": "allow"}]
    assert parse_ruleset(rules) == (Rule("edit", "*.md", ALLOW),)  # type: ignore[arg-type]


def test_nothing_configured_is_no_rule() -> None:
    assert parse_ruleset(None) == ()


@pytest.mark.parametrize(
    "config",
    [
        "maybe",
        {"edit": "maybe"},
        {"edit": {"*": None}},
        {"edit": ["allow"]},
        5,
        [{"permission": "edit"}],
        [{"permission": "edit", "pattern": "*", "action": "perhaps"}],
    ],
)
def test_it_rejects_what_it_does_not_understand(config: Any) -> None:
    with pytest.raises(ValueError, match=r"permission|rule"):
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


@pytest.mark.parametrize(
    "config",
    [
        {"tools": []},
        {"tools": {"bash": "no"}},
        {"permissions": []},
        {"permissions": {"bash": []}},
        {"permissions": {"bash": {"allow": "x"}}},
        {"permissions": {"bash": {"maybe": ["x"]}}},
    ],
)
def test_it_rejects_broken_older_forms(config: Any) -> None:
    with pytest.raises(ValueError, match=r"tools|permissions"):
        parse_config(config)


@pytest.mark.parametrize(
    ("agent", "permission", "pattern", "expected"),
    [
        ("build", "read", "src/a.py", ALLOW),
        ("build", "read", ".env", ASK),
        ("build", "read", "a/.env.local", ASK),
        ("build", "read", ".env.example", ALLOW),
        ("build", "edit", "a.py", ASK),
        ("build", "bash", "ls", ASK),
        ("build", "question", "*", ALLOW),
        ("build", "plan_exit", "*", DENY),
        ("build", "external_directory", "/etc/*", DENY),
        ("plan", "edit", "a.py", DENY),
        ("plan", "edit", ".opencode/plans/x.md", ALLOW),
        ("plan", "task", "general", DENY),
        ("plan", "task", "explore", ALLOW),
        ("plan", "bash", "ls", ASK),
        ("general", "todowrite", "*", DENY),
        ("explore", "edit", "a.py", DENY),
        ("explore", "grep", "x", ALLOW),
        ("explore", "bash", "ls", ASK),
        ("explore", "read", ".env", ASK),
        ("explore", "task", "general", DENY),
        ("title", "read", "a", DENY),
    ],
)
def test_defaults_of_agents(agent: str, permission: str, pattern: str, expected: Action) -> None:
    assert evaluate(permission, pattern, DEFAULTS + AGENT_DEFAULTS[agent]) is expected


def test_the_rules_told_to_a_model_are_those_of_the_permission() -> None:
    ruleset = parse_ruleset({"*": "allow", "edit": "deny", "bash": "ask"})
    assert relevant_rules("bash", ruleset) == (Rule("*", "*", ALLOW), Rule("bash", "*", ASK))
