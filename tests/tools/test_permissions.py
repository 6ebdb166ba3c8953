from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from tools.permissions import (
    AGENT_DEFAULTS,
    DEFAULTS,
    Action,
    Layer,
    Rule,
    Ruleset,
    decide,
    evaluate,
    is_hidden,
    matches,
    parse_config,
    parse_ruleset,
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
        ("* *", "git", True),
        ("a*b *", "axb", True),
        ("a*b *", "axbx b c", True),
        ("a*b *", "axbc", False),
        ("*ab", "aab", True),
        ("a*a", "a", False),
        ("*?b*c", "abbc", True),
        ("*?", "", False),
        ("a\nb", "a\nb", True),
        ("a", "a\n", False),
        ("*a", "a\n", False),
    ],
)
def test_wildcards(pattern: str, text: str, expected: bool) -> None:
    assert matches(text, pattern) is expected


def test_a_hostile_pattern_takes_no_time() -> None:
    started = time.process_time()
    assert not matches("a" * 60_000, "*a" * 90 + "*b")
    assert not matches("a" * 60_000, "?a*" * 60 + "b")
    assert not matches("ab" * 30_000, "*" + "a?" * 90 + "c*c")
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "config",
    [
        {"bash": {"x" * 201: "allow"}},
        {"x" * 201: "allow"},
        {"tools": {"x" * 201: True}},
        {"permissions": {"bash": {"deny": ["x" * 201]}}},
        {"permission": [{"permission": "bash", "pattern": "x" * 201, "action": "deny"}]},
    ],
)
def test_it_rejects_a_pattern_of_more_than_200_characters(config: Any) -> None:
    wrapped = config if {"tools", "permissions", "permission"} & set(config) else None
    with pytest.raises(ValueError, match="longer than 200 characters"):
        parse_config(wrapped or {"permission": config})


def layered(*layers: Any) -> Ruleset:
    return tuple(
        replace(rule, layer=layer)
        for layer, config in zip(Layer, layers, strict=False)
        for rule in parse_ruleset(config)
    )


@pytest.mark.parametrize(
    ("policy", "session", "saved", "expected"),
    [
        ({"bash": "deny"}, {"bash": "allow"}, None, DENY),
        ({"bash": "deny"}, {"*": "allow"}, None, DENY),
        ({"bash": "deny"}, {"bash": "ask"}, None, DENY),
        ({"bash": "deny"}, None, {"bash": {"rm *": "allow"}}, DENY),
        ({"bash": {"*": "allow", "rm *": "deny"}}, {"bash": "allow"}, None, DENY),
        ({"bash": {"*": "deny", "rm *": "ask"}}, {"bash": "allow"}, None, ALLOW),
        ({"bash": "ask"}, {"bash": "allow"}, None, ALLOW),
        ({"bash": "ask"}, None, {"bash": {"rm *": "allow"}}, ALLOW),
        ({"bash": "allow"}, {"bash": "deny"}, None, DENY),
        ({"bash": "allow"}, {"bash": "ask"}, None, ASK),
        ({"bash": "allow"}, {"bash": "deny"}, {"bash": {"rm *": "allow"}}, DENY),
        (
            {"bash": "ask"},
            [*({"permission": "bash", "pattern": "*", "action": a} for a in ("deny", "allow"))],
            None,
            ALLOW,
        ),
        ({"bash": "allow"}, {"bash": "ask"}, {"bash": {"rm *": "allow"}}, ALLOW),
        (None, {"bash": "allow"}, None, ALLOW),
    ],
)
def test_a_deny_is_final_for_the_layers_above_it(
    policy: Any, session: Any, saved: Any, expected: Action
) -> None:
    assert evaluate("bash", "rm x", layered(policy, session, saved)) is expected


def test_a_session_cannot_make_plan_edit() -> None:
    plan = DEFAULTS + AGENT_DEFAULTS["plan"] + (Rule("*", "*", ALLOW, Layer.SESSION),)
    assert evaluate("edit", "a.py", plan) is DENY
    assert evaluate("edit", ".opencode/plans/x.md", plan) is ALLOW
    assert evaluate("bash", "ls", plan) is ALLOW


@pytest.mark.parametrize(
    ("policy", "session", "hidden"),
    [
        ({"bash": "deny"}, {"bash": "allow"}, True),
        ({"bash": "deny"}, {"bash": {"ls": "allow"}}, True),
        ({"bash": "allow"}, {"bash": "deny"}, True),
        ({"bash": "ask"}, {"bash": "allow"}, False),
        ({"bash": {"*": "deny", "ls": "allow"}}, {"bash": "allow"}, False),
    ],
)
def test_no_layer_shows_a_tool_that_another_hides(policy: Any, session: Any, hidden: bool) -> None:
    assert is_hidden("bash", layered(policy, session)) is hidden


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
