from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from opencode_web.lib.json import JsonObject
from tests.security.evasions import EVASIONS, ORDINARY, WORK
from tools.permissions.config import parse_ruleset
from tools.permissions.defaults import AGENT_DEFAULTS, DEFAULTS
from tools.permissions.rules import Action, Level, Rule, Ruleset, judge
from tools.shell.parse import parse_shell

ROOT = Path("/srv/project")
DENIED: JsonObject = {"rm *": "deny", "git push *": "deny", "curl *": "deny"}


def rules(config: JsonObject, level: Level = Level.PROJECT) -> Ruleset:
    return tuple(replace(rule, level=level) for rule in parse_ruleset(config))


def action(command: str, ruleset: Ruleset) -> Action:
    asked = parse_shell(command, directory=ROOT, worktree=ROOT)
    return judge("bash", asked.subjects, ruleset, opaque=asked.opaque).action


DENIES = rules({"bash": {"*": "allow", **DENIED}})


def test_what_gets_around_a_deny_is_never_allowed(subtests: pytest.Subtests) -> None:
    for command in EVASIONS:
        with subtests.test(command=command):
            assert action(command, DENIES) in {Action.ASK, Action.DENY}


def test_what_does_only_what_it_is_called_is_not_asked_for(subtests: pytest.Subtests) -> None:
    for command in ORDINARY:
        with subtests.test(command=command):
            assert action(command, DENIES) is Action.ALLOW


def test_without_a_deny_nothing_begins_to_be_asked_for(subtests: pytest.Subtests) -> None:
    cases = [
        {"bash": "allow"},
        {"*": "allow"},
        {"bash": {"rm *": "deny", "*": "allow"}},
        {"bash": "allow", "webfetch": "deny", "task": {"x": "deny"}},
    ]
    for config in cases:
        for command in [*ORDINARY, *WORK]:
            with subtests.test(command=command, config=config):
                assert action(command, rules(config)) is Action.ALLOW
                of_build = (*DEFAULTS, *AGENT_DEFAULTS["build"], *rules(config))
                assert action(command, of_build) is Action.ALLOW


def test_work_is_asked_for_where_something_is_denied(subtests: pytest.Subtests) -> None:
    for command in WORK:
        with subtests.test(command=command):
            assert action(command, DENIES) is not Action.ALLOW


NAMED = {"python3 *": "allow", "make": "allow"}


def test_a_rule_that_names_a_program_allows_it_beside_a_deny_of_the_same_level() -> None:
    named = rules({"bash": {"*": "allow", **DENIED, **NAMED}})
    assert action("python3 x.py", named) is Action.ALLOW
    assert action("make", named) is Action.ALLOW
    assert action("make && perl x", named) is Action.ASK
    # What is asked for by default and allowed by name stays allowed.
    listed = rules({"bash": {"*": "ask", **NAMED, **DENIED}})
    assert action("python3 x.py", listed) is Action.ALLOW
    assert action("ls", listed) is Action.ASK


def test_a_lower_level_does_not_loosen_a_deny_of_one_above() -> None:
    team = rules({"bash": {"*": "allow", **DENIED}}, Level.TEAM)
    for level in (Level.PROJECT, Level.REPOSITORY, Level.SESSION):
        assert action("python3 x.py", (*team, *rules({"bash": NAMED}, level))) is Action.ASK
    below = rules({"bash": {"rm *": "deny"}}, Level.REPOSITORY)
    assert action("python3 x.py", (*rules({"bash": "allow"}), *below)) is Action.ASK


def test_an_answer_that_was_saved_allows_it() -> None:
    for pattern, expected in (("python3 *", Action.ALLOW), ("*", Action.ASK)):
        saved = Rule("bash", pattern, Action.ALLOW, Level.SAVED)
        assert action("python3 x.py", (*DENIES, saved)) is expected
    saved = Rule("bash", "python3 *", Action.ALLOW, Level.SAVED)
    assert action("rm x", (*DENIES, saved)) is Action.DENY


@pytest.mark.parametrize("permission", ["edit", "read", "*"])
def test_denies_of_files_count_too(permission: str) -> None:
    ruleset = rules({"bash": "allow", permission: {"secrets/*": "deny"}})
    assert action("python3 x.py", ruleset) is Action.ASK
    assert action("ls -la | grep x", ruleset) is Action.ALLOW


def test_what_writes_is_asked_for_where_changes_are_denied() -> None:
    edits = rules({"bash": "allow", "edit": {"secrets/*": "deny"}})
    reads = rules({"bash": "allow", "read": {"secrets/*": "deny"}})
    for command in ("echo x > a", "echo x >> a", "mkdir a", "touch a", "ls &> a", "rm a"):
        assert action(command, edits) is Action.ASK
        assert action(command, reads) is Action.ALLOW
        assert action(command, DENIES) is (Action.DENY if command == "rm a" else Action.ALLOW)
    for command in ("wc < a", "ls > /dev/null 2>&1", "cat a 2>/dev/null"):
        assert action(command, edits) is Action.ALLOW


def test_a_plan_asks_for_what_could_change_files() -> None:
    plan = (*DEFAULTS, *AGENT_DEFAULTS["plan"], *rules({"bash": "allow"}))
    assert action("git log && grep -rn x .", plan) is Action.ALLOW
    for command in ("python3 x.py", "echo x > a", "sed -i d a"):
        assert action(command, plan) is Action.ASK
