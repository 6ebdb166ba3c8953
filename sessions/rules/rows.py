"""The rules in a `permission` value as rows of a table, and back. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from opencode_web.lib.json import JsonObject, JsonValue


@dataclass(frozen=True)
class RuleRow:
    """One rule as somebody wrote it. Of the rows that match a call the last one counts."""

    tool: str
    pattern: str
    action: str


def read_rows(permission: JsonValue) -> list[RuleRow]:
    """Returns: the rules in the order in which they count, as they are written.

    The value is one that `parse_ruleset` understands.
    """
    match permission:
        case str():
            return [RuleRow("*", "*", permission)]
        case dict():
            return [
                RuleRow(tool, pattern, str(action))
                for tool, value in permission.items()
                for pattern, action in (
                    value.items() if isinstance(value, dict) else [("*", value)]
                )
            ]
        case list():
            return [
                RuleRow(str(one["permission"]), str(one["pattern"]), str(one["action"]))
                for one in permission
                if isinstance(one, dict)
            ]
    return []


def write_rows(rows: list[RuleRow]) -> JsonValue:
    """Returns: a `permission` value with these rules; None for none.

    It is an object, as OpenCode writes it, unless only a list can hold this order.
    """
    if not rows:
        return None
    groups = [(tool, list(group)) for tool, group in groupby(rows, key=lambda row: row.tool)]
    is_object = len({tool for tool, _ in groups}) == len(groups)
    is_object = is_object and len({(row.tool, row.pattern) for row in rows}) == len(rows)
    if is_object:
        return {tool: _patterns(group) for tool, group in groups}
    return [{"permission": row.tool, "pattern": row.pattern, "action": row.action} for row in rows]


def _patterns(rows: list[RuleRow]) -> JsonValue:
    if len(rows) == 1 and rows[0].pattern == "*":
        return rows[0].action
    patterns: JsonObject = {row.pattern: row.action for row in rows}
    return patterns
