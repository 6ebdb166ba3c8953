"""What settings lose when others take their place, told by name. Pure."""

from __future__ import annotations

from collections import Counter

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.rules.rows import read_rows
from tools.permissions.config import parse_ruleset

_RULES = "permission"
# What holds several things with names, each of which has a page, or a part of one.
_NAMED = {
    "mcp": ngettext_lazy("MCP server %(names)s", "MCP servers %(names)s", "count"),
    "agent": ngettext_lazy("agent %(names)s", "agents %(names)s", "count"),
    "command": ngettext_lazy("command %(names)s", "commands %(names)s", "count"),
    "provider": ngettext_lazy("provider %(names)s", "providers %(names)s", "count"),
}


def removals(before: JsonObject, after: JsonObject) -> dict[str, list[str]]:
    """Returns: what is gone, by key: names of servers and the like, rules, nothing of others.

    A value that has become another one is not gone.
    """
    gone = {
        key: _rules(value, after.get(key)) if key == _RULES else _names(value, after.get(key))
        for key, value in before.items()
        if key in _NAMED or key == _RULES
    }
    found: dict[str, list[str]] = {key: [] for key in before if key not in gone | after}
    return {**{key: names for key, names in gone.items() if names}, **found}


def say_removals(gone: dict[str, list[str]]) -> str:
    """Returns: such as `MCP server weather, 3 permission rules, sharing`."""
    return ", ".join(_said(key, names) for key, names in gone.items())


def _said(key: str, names: list[str]) -> str:
    if key == _RULES:
        rules = ngettext("%(count)d permission rule", "%(count)d permission rules", len(names))
        return rules % {"count": len(names)}
    if key in _NAMED:
        return _NAMED[key] % {"count": len(names), "names": _joined(names)}
    return key


def _joined(names: list[str]) -> str:
    *most, last = names
    return _("%(most)s and %(last)s") % {"most": ", ".join(most), "last": last} if most else last


def _names(before: JsonValue, after: JsonValue) -> list[str]:
    known = after if isinstance(after, dict) else {}
    return [name for name in before if name not in known] if isinstance(before, dict) else []


def _rules(before: JsonValue, after: JsonValue) -> list[str]:
    """The subjects of rules: one of them that says something else now is a change."""
    try:
        parse_ruleset(before)
    except ValueError:  # of another version of this program: none of them counts
        return []
    old, new = (
        Counter(f"{one.tool} {one.pattern}" for one in read_rows(rules))
        for rules in (before, after)
    )
    return [*(old - new).elements()]
