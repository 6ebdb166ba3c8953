from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tools.permissions.config import parse_ruleset
from tools.permissions.defaults import AGENT_DEFAULTS, DEFAULTS
from tools.permissions.rules import (
    Action,
    Level,
    Reach,
    Rule,
    Ruleset,
    Subject,
    decide,
    evaluate,
    is_hidden,
    judge,
    source_of,
)

ALLOW, ASK, OTHER, DENY = Action.ALLOW, Action.ASK, Action.ASK_OTHER, Action.DENY


def rules(**levels: Any) -> Ruleset:
    """Rules by level: `team={"bash": "ask"}`; `agent` are those that the agent has of itself."""
    found: list[Rule] = []
    for name, config in levels.items():
        mine = name == "agent"
        level = Level.DEFAULT if mine else Level(name)
        found += (replace(rule, level=level, for_agent=mine) for rule in parse_ruleset(config))
    return tuple(found)


SETTINGS = ("instance", "team", "project")
# By what levels say about one call: what becomes of it. Nothing is said by those left out.
TABLE: list[tuple[dict[str, str], Action]] = [
    ({}, ASK),
    ({"default": "allow"}, ALLOW),
    ({"default": "ask"}, ASK),
    ({"default": "deny"}, DENY),
    ({"default": "deny", "repository": "ask-other"}, DENY),
    # Settings take the place of the defaults.
    *(
        ({"default": base, one: a}, Action(a))
        for base in Action
        for one in SETTINGS
        for a in Action
    ),
    # A lower level tightens and never loosens.
    *(
        ({high: a, low: b}, max(a, b, key=list(Action).index))
        for index, high in enumerate(SETTINGS)
        for low in SETTINGS[index + 1 :]
        for a in Action
        for b in Action
    ),
    # What an agent denies of itself holds against general settings; what it asks does not.
    ({"agent": "deny", "project": "allow"}, DENY),
    ({"agent": "ask", "project": "allow"}, ALLOW),
    ({"default": "ask", "agent": "allow"}, ALLOW),
    ({"agent": "allow", "project": "ask"}, ASK),
    ({"agent": "allow", "team": "deny"}, DENY),
    # A repository only tightens.
    ({"default": "ask", "repository": "allow"}, ASK),
    ({"default": "deny", "repository": "allow"}, DENY),
    ({"default": "deny", "repository": "ask"}, DENY),
    ({"default": "allow", "repository": "ask"}, ASK),
    ({"project": "allow", "repository": "ask"}, ASK),
    ({"project": "allow", "repository": "deny"}, DENY),
    ({"team": "deny", "repository": "allow"}, DENY),
    # A session tightens, and loosens what the defaults ask for.
    ({"default": "ask", "session": "allow"}, ALLOW),
    ({"default": "deny", "session": "allow"}, DENY),
    ({"default": "deny", "session": "ask"}, DENY),
    ({"agent": "deny", "session": "allow"}, DENY),
    ({"agent": "ask", "session": "allow"}, ALLOW),
    ({"project": "ask", "session": "allow"}, ASK),
    ({"project": "deny", "session": "allow"}, DENY),
    ({"project": "allow", "session": "ask"}, ASK),
    ({"project": "allow", "session": "deny"}, DENY),
    ({"repository": "ask", "default": "ask", "session": "allow"}, ASK),
    # "Always" satisfies who asks and opens nothing.
    *(({one: "ask", "saved": "allow"}, ALLOW) for one in ("default", *SETTINGS)),
    *(({one: "deny", "saved": "allow"}, DENY) for one in ("default", *SETTINGS)),
    ({"repository": "ask", "saved": "allow"}, ALLOW),
    ({"repository": "deny", "saved": "allow"}, DENY),
    ({"session": "ask", "saved": "allow"}, ALLOW),
    ({"session": "deny", "saved": "allow"}, DENY),
    ({"agent": "deny", "saved": "allow"}, DENY),
    ({"unreadable": "ask", "project": "allow"}, ASK),
    ({"unreadable": "ask", "default": "deny"}, DENY),
]


def test_what_levels_make_of_a_call(subtests: pytest.Subtests) -> None:
    for levels, expected in TABLE:
        with subtests.test(levels=levels):
            assert evaluate("bash", "rm x", rules(**levels)) is expected


def test_one_call_among_others_is_judged_alike(subtests: pytest.Subtests) -> None:
    for levels, expected in TABLE:
        with subtests.test(levels=levels):
            narrow = {
                level: {"bash": {"rm *": str(action), "ls": "allow"}}
                for level, action in levels.items()
            }
            assert evaluate("bash", "rm x", rules(**narrow)) is expected
            assert evaluate("edit", "rm x", rules(**narrow)) is ASK


def test_an_agent_that_denies_is_opened_by_settings_for_it_by_name() -> None:
    plan = DEFAULTS + AGENT_DEFAULTS["plan"]
    assert evaluate("edit", "a.py", plan + rules(team={"*": "allow"})) is DENY
    named = tuple(replace(rule, for_agent=True) for rule in rules(team={"edit": "allow"}))
    assert evaluate("edit", "a.py", plan + named) is ALLOW
    assert evaluate("edit", "a.py", plan + rules(instance={"edit": "ask"}) + named) is ASK


def test_feat2_fr_01_a_session_cannot_make_plan_edit() -> None:
    plan = DEFAULTS + AGENT_DEFAULTS["plan"] + (Rule("*", "*", ALLOW, Level.SESSION),)
    assert evaluate("edit", "a.py", plan) is DENY
    assert evaluate("edit", ".opencode/plans/x.md", plan) is ALLOW
    assert evaluate("bash", "ls", plan) is ALLOW


def test_it_says_whose_rule_decided(subtests: pytest.Subtests) -> None:
    cases = [
        ({"team": "deny", "project": "allow"}, "the settings of the team (*: *)"),
        ({"instance": "ask", "team": "ask"}, "the rules of this server (*: *)"),
        ({"default": "ask"}, "the defaults of this server (*: *)"),
        ({"agent": "deny"}, "the rules of this agent (*: *)"),
        (
            {"repository": {"bash": {"rm *": "deny"}}},
            "the opencode.json of the repository (bash: rm *)",
        ),
        ({"project": "allow", "session": "ask"}, "the rules of this session (*: *)"),
        ({}, "the defaults of this server (no rule is about it)"),
    ]
    for levels, source in cases:
        with subtests.test(levels=levels):
            verdict = judge("bash", [Subject("rm x")], rules(**levels))
            assert source_of(verdict.rule) == source


def test_settings_for_an_agent_are_said_to_be_so() -> None:
    (rule,) = rules(team="deny")
    assert source_of(replace(rule, for_agent=True)) == (
        "the settings of the team for this agent (*: *)"
    )


def test_another_spelling_can_only_tighten(subtests: pytest.Subtests) -> None:
    cases = [
        ({"*": "allow", "rm *": "deny"}, ("rm x",), DENY),
        ({"*": "allow", "rm *": "ask"}, ("rm x",), ASK),
        ({"rm *": "deny", "*": "allow"}, ("rm x",), ALLOW),
        # Another spelling never loosens, and what counts for the text itself counts.
        ({"*": "ask", "rm *": "allow"}, ("rm x",), ASK),
        ({"*": "deny", "rm *": "allow"}, ("rm x",), DENY),
        ({"*": "ask", "r'*": "allow"}, ("rm x",), ALLOW),
    ]
    for config, others, expected in cases:
        with subtests.test(config=config):
            subject = Subject("r''m x", others)
            assert judge("bash", [subject], rules(project={"bash": config})).action is expected


def test_what_is_known_only_when_it_runs_is_asked_for_if_it_could_be_denied(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({"*": "allow", "rm *": "deny"}, "", ASK),
        ({"*": "allow", "rm -rf *": "deny"}, "rm ", ASK),
        ({"*": "allow", "rm *": "ask"}, "", ASK),
        ({"*": "allow", "rm *": "deny"}, "git ", ALLOW),
        ({"*": "allow", "*secret*": "deny"}, "git ", ASK),
        ({"*": "deny", "git *": "allow"}, "git log ", ALLOW),
        ({"rm *": "deny", "*": "allow"}, "", ALLOW),
        ({"*": "allow"}, "", ALLOW),
    ]
    for config, start, expected in cases:
        with subtests.test(config=config, start=start):
            ruleset = rules(project={"bash": config})
            subject = Subject("git log $X", unsure_from=start)
            assert judge("bash", [subject], ruleset).action is expected


def test_what_could_need_a_second_person_does(subtests: pytest.Subtests) -> None:
    push = {"git push *": "ask-other"}
    unsure = Subject("git $X", unsure_from="git ")
    script = Subject("python x.py", reach=Reach.ANYTHING)
    cases: list[tuple[dict[str, str], Subject, Action]] = [
        ({"*": "allow", **push}, unsure, OTHER),
        ({"*": "ask", **push}, unsure, OTHER),
        ({"*": "allow", **push, "git *": "ask"}, unsure, ASK),
        ({"*": "allow", **push, "rm *": "deny"}, Subject("ls $X", unsure_from="ls "), ALLOW),
        ({"*": "allow", **push}, script, ASK),
        ({"*": "allow", **push, "python *": "allow"}, script, ALLOW),
    ]
    for config, subject, expected in cases:
        with subtests.test(config=config, subject=subject):
            assert judge("bash", [subject], rules(team={"bash": config})).action is expected
    saved = rules(team={"bash": {"*": "ask", **push}}, saved={"bash": {"git *": "allow"}})
    assert judge("bash", [unsure], saved).action is OTHER


def test_nothing_loosens_what_a_policy_asks_for(subtests: pytest.Subtests) -> None:
    policy = {"bash": {"git push *": "ask-other"}}
    push, script = Subject("git push origin"), Subject("python x.py", reach=Reach.ANYTHING)
    opened: dict[str, dict[str, Any]] = {
        level: {"bash": {"*": "allow", "git push *": "allow"}}
        for level in (*SETTINGS, "repository", "session", "saved", "agent")
    }
    cases: list[tuple[dict[str, Any], Subject, Action]] = [
        (opened, push, OTHER),
        (opened, Subject("git $X", unsure_from="git "), OTHER),
        ({"team": {"bash": {"git push *": "deny"}}}, push, DENY),
        ({"team": {"bash": "allow"}}, Subject("ls"), ALLOW),
        ({"team": {"bash": "allow"}}, script, ASK),
        ({"team": {"bash": {"*": "ask", "python *": "allow"}}}, script, ALLOW),
        ({"project": {"bash": {"*": "allow", "python *": "allow"}}}, script, ASK),
    ]
    for levels, subject, expected in cases:
        with subtests.test(levels=levels, subject=subject):
            ruleset = rules(policy=policy, **levels)
            assert judge("bash", [subject], ruleset).action is expected


def test_no_saved_answer_covers_what_nobody_can_read() -> None:
    ruleset = rules(project={"bash": "ask"}, saved={"bash": "allow"})
    assert judge("bash", [Subject("x")], ruleset).action is ALLOW
    assert judge("bash", [Subject("x")], ruleset, opaque=True).action is ASK


def test_no_level_shows_a_tool_that_another_hides(subtests: pytest.Subtests) -> None:
    cases = [
        ({"project": {"bash": "deny"}, "session": {"bash": "allow"}}, True),
        ({"project": {"bash": "deny"}, "session": {"bash": {"ls": "allow"}}}, True),
        ({"team": {"bash": "deny"}, "project": {"bash": "allow"}}, True),
        ({"project": {"bash": "allow"}, "session": {"bash": "deny"}}, True),
        ({"project": {"bash": "allow"}, "repository": {"bash": "deny"}}, True),
        ({"project": {"bash": "ask"}, "session": {"bash": "allow"}}, False),
        ({"project": {"bash": {"*": "deny", "ls": "allow"}}}, False),
        ({"default": {"bash": "deny"}}, True),
        ({"default": {"bash": "deny"}, "session": {"bash": "allow"}}, True),
        ({"default": {"bash": "deny"}, "team": {"bash": "allow"}}, False),
        ({"agent": {"*": "deny"}, "team": {"*": "allow"}}, True),
        ({"agent": {"*": "deny", "bash": {"ls": "allow"}}}, False),
    ]
    for levels, hidden in cases:
        with subtests.test(levels=levels):
            assert is_hidden("bash", rules(**levels)) is hidden


def test_the_last_matching_rule_wins(subtests: pytest.Subtests) -> None:
    cases = [
        ({}, "edit", "a.py", ASK),
        ("allow", "anything", "x", ALLOW),
        ({"*": "allow", "edit": "deny"}, "edit", "a.py", DENY),
        ({"edit": "deny", "*": "allow"}, "edit", "a.py", ALLOW),
        ({"bash": {"*": "deny", "git *": "allow"}}, "bash", "git log", ALLOW),
        ({"bash": {"git *": "allow", "*": "deny"}}, "bash", "git log", DENY),
        ({"bash": {"*": "deny", "git *": "allow"}}, "edit", "git log", ASK),
        ({"my_*": "allow"}, "my_tool", "x", ALLOW),
        ({"write": "allow"}, "edit", "a.py", ASK),
    ]
    for config, permission, pattern, expected in cases:
        with subtests.test(config=config, permission=permission):
            assert evaluate(permission, pattern, parse_ruleset(config)) is expected


def test_a_tool_is_hidden_when_its_last_rule_denies_everything(subtests: pytest.Subtests) -> None:
    cases = [
        ({"bash": "deny"}, True),
        ({"*": "deny"}, True),
        ({"*": "deny", "bash": "ask"}, False),
        ({"bash": {"*": "deny", "echo *": "allow"}}, False),
        ({"bash": {"echo *": "allow", "*": "deny"}}, True),
        ({"bash": {"rm *": "deny"}}, False),
        ({}, False),
    ]
    for config, hidden in cases:
        with subtests.test(config=config):
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


def test_defaults_of_agents(subtests: pytest.Subtests) -> None:
    cases = [
        ("build", "read", "src/a.py", ALLOW),
        ("build", "read", ".env", ASK),
        ("build", "read", "a/.env.local", ASK),
        ("build", "read", ".env.example", ALLOW),
        ("build", "read", "a/.ENV", ASK),
        ("build", "read", ".Env.production", ASK),
        ("build", "read", "prod.env", ASK),
        ("build", "read", "environment.py", ALLOW),
        ("build", "edit", "a.py", ASK),
        ("build", "bash", "ls", ASK),
        ("build", "question", "*", ALLOW),
        ("build", "plan_exit", "*", DENY),
        ("build", "external_directory", "/etc/*", ASK),
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
    ]
    for agent, permission, pattern, expected in cases:
        with subtests.test(agent=agent, permission=permission, pattern=pattern):
            assert evaluate(permission, pattern, DEFAULTS + AGENT_DEFAULTS[agent]) is expected
