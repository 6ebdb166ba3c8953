"""Who may call what: rules, their evaluation, and how configuration becomes rules. Pure.

Source: OpenCode 1.18. The last matching rule wins; no match means ask. But a deny is final for the
layers above its own: see `Layer`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

from opencode_web.lib.json import JsonObject, JsonValue


class Action(StrEnum):
    """What happens to a call that a rule matches."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Layer(StrEnum):
    """Whose word a rule is, from the strongest on. A ruleset holds its layers in this order.

    A layer can loosen what the ones before it ask for, and tighten everything. It cannot open what
    one of them denies: a member neither overrides an administrator nor makes `plan` edit files.
    """

    # The defaults, the agent's own, the settings of the team and of the project: one layer, because
    # only administrators write them.
    POLICY = "policy"
    # The rules of one session, and the `tools` of its prompts.
    SESSION = "session"
    # The project's "always" answers.
    SAVED = "saved"


@dataclass(frozen=True)
class Rule:
    """One line of a ruleset. Both names are wildcards: `*` any text, `?` one character."""

    permission: str
    pattern: str
    action: Action
    layer: Layer = Layer.POLICY


Ruleset: TypeAlias = tuple[Rule, ...]

# Every ask is matched against every rule.
MAX_PATTERN_CHARS = 200

# Tools that are asked for under another name.
_ASKED_AS = {"write": "edit", "patch": "edit", "apply_patch": "edit", "multiedit": "edit"}


def asked_as(tool: str) -> str:
    """Returns: the permission by which a tool's calls are asked for."""
    return _ASKED_AS.get(tool, tool)


def evaluate(permission: str, pattern: str, ruleset: Ruleset) -> Action:
    """Decide one pattern of an ask; without any matching rule the answer is ASK.

    The last matching rule of each layer counts: DENY if one of them denies, else the very last.
    """
    matching = (
        rule
        for rule in reversed(ruleset)
        if matches(permission, rule.permission) and matches(pattern, rule.pattern)
    )
    last: Rule | None = None
    answer: Action | None = None
    for rule in matching:
        if last is not None and last.layer is rule.layer:
            continue
        if rule.action is Action.DENY:
            return Action.DENY
        last, answer = rule, answer or rule.action
    return answer or Action.ASK


def decide(permission: str, patterns: Iterable[str], ruleset: Ruleset) -> Action:
    """Decide a whole ask: one denied pattern denies it, and only if all are allowed it is."""
    actions = {evaluate(permission, pattern, ruleset) for pattern in patterns}
    if Action.DENY in actions:
        return Action.DENY
    return Action.ASK if Action.ASK in actions else Action.ALLOW


def is_hidden(permission: str, ruleset: Ruleset) -> bool:
    """Tell whether tools of this permission are not offered: a layer's last rule denies all."""
    layers: set[Layer] = set()
    for rule in reversed(ruleset):
        if rule.layer in layers or not matches(permission, rule.permission):
            continue
        if rule.pattern == "*" and rule.action is Action.DENY:
            return True
        layers.add(rule.layer)
    return False


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
            return (_rule("*", "*", config, at="permission"),)
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
            _rule(name, pattern, action, at=f"permission.{name}.{pattern}")
            for pattern, action in value.items()
        )
    return (_rule(name, "*", value, at=f"permission.{name}"),)


def _parse_rule(entry: JsonValue) -> Rule:
    match entry:
        case {"permission": str(permission), "pattern": str(pattern), "action": action}:
            return _rule(permission, pattern, action, at=f"permission.{permission}")
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
        action = "allow" if enabled else "deny"
        rules.append(_rule(asked_as(name), "*", action, at=f"tools.{name}"))
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
            if not isinstance(patterns, list):
                raise ValueError(f"permissions.{name}.{key} must be a list of patterns")
            at = f"permissions.{name}"
            _action(key, at=at)
            entries.extend(_rule(asked_as(name), str(pattern), key, at=at) for pattern in patterns)
        rules.extend(reversed(entries))
    return tuple(rules)


def _rule(permission: str, pattern: str, action: JsonValue, *, at: str) -> Rule:
    for text in (permission, pattern):
        if len(text) > MAX_PATTERN_CHARS:
            raise ValueError(f"{at[:80]}… is longer than {MAX_PATTERN_CHARS} characters")
    return Rule(permission, pattern, _action(action, at=at))


def _action(value: JsonValue, *, at: str) -> Action:
    try:
        return Action(str(value))
    except ValueError as exc:
        raise ValueError(f"{at} must be allow, ask or deny, not {value!r}") from exc


def _glob(text: str, pattern: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    return _compile(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    # Each `*` takes as little as it can and, by the atomic group, never gives it back: that finds a
    # match whenever there is one, and `*a*a*a*b` against a long hostile command takes no minutes.
    head, *rest = (_literal(part) for part in re.split(r"\*+", pattern))
    *middle, last = rest or [""]
    found = "".join(f"(?>.*?{part})" for part in middle)
    return re.compile(f"{head}{found}.*{last}" if rest else head, re.DOTALL)


def _literal(part: str) -> str:
    return "".join("." if char == "?" else re.escape(char) for char in part)


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
