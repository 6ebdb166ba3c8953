"""How configuration becomes permission rules: every form of it, today's and the older ones. Pure.

Source: OpenCode 1.18; the lists of which the first match wins are of an older one.
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, JsonValue
from tools.permissions.rules import MAX_PATTERN_CHARS, Action, Rule, Ruleset, asked_as
from tools.sandbox.mounts import HOME


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
    pattern = _with_home(pattern)
    for text in (permission, pattern):
        if len(text) > MAX_PATTERN_CHARS:
            raise ValueError(f"{at[:80]}… is longer than {MAX_PATTERN_CHARS} characters")
    return Rule(permission, pattern, _action(action, at=at))


def _with_home(pattern: str) -> str:
    """`~` and `$HOME` at the start stand for the home that commands have in the sandbox."""
    for name in ("~", "$HOME"):
        if pattern == name or pattern.startswith(f"{name}/"):
            return str(HOME) + pattern.removeprefix(name)
    return pattern


def _action(value: JsonValue, *, at: str) -> Action:
    try:
        return Action(str(value))
    except ValueError as exc:
        raise ValueError(f"{at} must be allow, ask, ask-other or deny, not {value!r}") from exc
