"""Who may call what: rules, their evaluation, and how configuration becomes rules. Pure.

Source: behaviour.md 3. The last matching rule wins; no match means ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from opencode_web.lib.json import JsonObject, JsonValue


class Action(StrEnum):
    """What happens to a call that a rule matches."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Rule:
    """One line of a ruleset. Both names are wildcards: `*` any text, `?` one character."""

    permission: str
    pattern: str
    action: Action


Ruleset: TypeAlias = tuple[Rule, ...]

# Tools that are asked for under another name.
_ASKED_AS = {"write": "edit", "patch": "edit", "apply_patch": "edit", "multiedit": "edit"}


def evaluate(permission: str, pattern: str, ruleset: Ruleset) -> Action:
    """Decide one pattern of an ask. The last matching rule wins; without any the answer is ASK."""
    for rule in reversed(ruleset):
        if matches(permission, rule.permission) and matches(pattern, rule.pattern):
            return rule.action
    return Action.ASK


def decide(permission: str, patterns: Iterable[str], ruleset: Ruleset) -> Action:
    """Decide a whole ask: one denied pattern denies it, and only if all are allowed it is."""
    actions = {evaluate(permission, pattern, ruleset) for pattern in patterns}
    if Action.DENY in actions:
        return Action.DENY
    return Action.ASK if Action.ASK in actions else Action.ALLOW


def is_hidden(permission: str, ruleset: Ruleset) -> bool:
    """Tell whether tools of this permission are not offered: their last rule denies all."""
    for rule in reversed(ruleset):
        if matches(permission, rule.permission):
            return rule.pattern == "*" and rule.action is Action.DENY
    return False


def relevant_rules(permission: str, ruleset: Ruleset) -> Ruleset:
    """Pick the rules that speak about this permission, to tell a model why it was denied."""
    return tuple(rule for rule in ruleset if matches(permission, rule.permission))


def matches(text: str, pattern: str) -> bool:
    """Match a whole text, case-sensitively. `git *` matches `git` too; `\\\\` counts as `/`."""
    text = text.replace("\\", "/")
    pattern = pattern.replace("\\", "/")
    return _glob(text, pattern) or (pattern.endswith(" *") and _glob(text, pattern[:-2]))


def parse_ruleset(config: JsonValue) -> Ruleset:
    """Read a `permission` value: an action, an object (in key order), or a list of rules.

    Raises: ValueError saying which entry is not understood.
    """
    match config:
        case None:
            return ()
        case str():
            return (Rule("*", "*", _action(config, at="permission")),)
        case list():
            return tuple(_parse_rule(entry) for entry in config)
        case dict():
            return tuple(
                rule for name, value in config.items() for rule in _parse_entry(name, value)
            )
        case _:
            raise ValueError("permission must be an action, an object or a list of rules")


def parse_config(config: JsonObject) -> Ruleset:
    """Read every form of rules in an `opencode.json` (or one of its agents), older forms first.

    `tools` maps a tool to a bool; `permissions` holds allow and deny lists of which the first match
    wins; `permission` is today's form, and therefore has the last word.

    Raises: ValueError saying which entry is not understood.
    """
    return (
        *_parse_tools(config.get("tools")),
        *_parse_lists(config.get("permissions")),
        *parse_ruleset(config.get("permission")),
    )


def _parse_entry(name: str, value: JsonValue) -> Ruleset:
    if isinstance(value, dict):
        return tuple(
            Rule(name, pattern, _action(action, at=f"permission.{name}.{pattern}"))
            for pattern, action in value.items()
        )
    return (Rule(name, "*", _action(value, at=f"permission.{name}")),)


def _parse_rule(entry: JsonValue) -> Rule:
    match entry:
        case {"permission": str(permission), "pattern": str(pattern), "action": action}:
            return Rule(permission, pattern, _action(action, at=f"permission.{permission}"))
        case _:
            raise ValueError("a rule needs permission, pattern and action")


def _parse_tools(config: JsonValue) -> Ruleset:
    if config is None:
        return ()
    if not isinstance(config, dict):
        raise ValueError("tools must map tool names to true or false")
    rules = []
    for name, enabled in config.items():
        if not isinstance(enabled, bool):
            raise ValueError(f"tools.{name} must be true or false")
        action = Action.ALLOW if enabled else Action.DENY
        rules.append(Rule(_ASKED_AS.get(name, name), "*", action))
    return tuple(rules)


def _parse_lists(config: JsonValue) -> Ruleset:
    """Translate first match wins into last match wins, so the lists come out reversed."""
    if config is None:
        return ()
    if not isinstance(config, dict):
        raise ValueError("permissions must map tool names to allow and deny lists")
    rules: list[Rule] = []
    for name, lists in reversed(config.items()):
        if not isinstance(lists, dict):
            raise ValueError(f"permissions.{name} must hold allow, ask or deny lists")
        entries: list[Rule] = []
        for key, patterns in lists.items():
            action = _action(key, at=f"permissions.{name}")
            if not isinstance(patterns, list):
                raise ValueError(f"permissions.{name}.{key} must be a list of patterns")
            entries.extend(
                Rule(_ASKED_AS.get(name, name), str(pattern), action) for pattern in patterns
            )
        rules.extend(reversed(entries))
    return tuple(rules)


def _action(value: JsonValue, *, at: str) -> Action:
    try:
        return Action(str(value))
    except ValueError as exc:
        raise ValueError(f"{at} must be allow, ask or deny, not {value!r}") from exc


def _glob(text: str, pattern: str) -> bool:
    # Not a regular expression: `*a*a*a*b` against a long hostile command would take it minutes.
    at = mark = 0
    star = -1
    index = 0
    while at < len(text):
        if index < len(pattern) and pattern[index] == "*":
            star, mark = index, at
            index += 1
        elif index < len(pattern) and pattern[index] in {"?", text[at]}:
            at += 1
            index += 1
        elif star >= 0:
            mark += 1
            at, index = mark, star + 1
        else:
            return False
    return all(char == "*" for char in pattern[index:])


def _rules(config: JsonObject) -> Ruleset:
    return parse_ruleset(config)


_READ: JsonObject = {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"}

# Before every agent's own rules. Unlike the single-user original, changing files and running
# commands is asked for: a member of a team acts in a worktree that others share.
DEFAULTS: Ruleset = _rules(
    {
        "*": "allow",
        "edit": "ask",
        "bash": "ask",
        "doom_loop": "ask",
        "external_directory": "deny",
        "question": "deny",
        "plan_enter": "deny",
        "plan_exit": "deny",
        "read": _READ,
    }
)

# To be appended to DEFAULTS; the rules of the team, the project and the session follow them.
AGENT_DEFAULTS: Mapping[str, Ruleset] = {
    "build": _rules({"question": "allow", "plan_enter": "allow"}),
    "plan": _rules(
        {
            "question": "allow",
            "plan_exit": "allow",
            "task": {"general": "deny"},
            "edit": {"*": "deny", ".opencode/plans/*.md": "allow"},
        }
    ),
    "general": _rules({"todowrite": "deny"}),
    "explore": _rules(
        {
            "*": "deny",
            "grep": "allow",
            "glob": "allow",
            "list": "allow",
            "bash": "ask",
            "webfetch": "allow",
            "websearch": "allow",
            "read": _READ,
        }
    ),
    "compaction": _rules({"*": "deny"}),
    "title": _rules({"*": "deny"}),
    "summary": _rules({"*": "deny"}),
}
