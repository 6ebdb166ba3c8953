"""What becomes of a call that cannot be made as it is: one of `invalid`, which says why. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from opencode_web.lib.json import JsonObject, read_json
from tools.truncate import keep_head

_NAME_CHARS = 100
_NEAR_CHARS = 40
_SHOWN_LINES, _SHOWN_BYTES = 20, 2_000

# What other programs call these tools: models remember them.
_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("shell", "sh", "exec", "execute", "run", "terminal", "command"), "bash"),
        **dict.fromkeys(("cat", "view", "open", "open_file", "read_file"), "read"),
        **dict.fromkeys(("ls", "dir", "list_dir", "list_files"), "list"),
        **dict.fromkeys(("find", "find_files", "file_search"), "glob"),
        **dict.fromkeys(("search", "rg", "ripgrep", "grep_search"), "grep"),
        **dict.fromkeys(("replace", "str_replace", "str_replace_editor", "edit_file"), "edit"),
        **dict.fromkeys(("create", "create_file", "write_file"), "write"),
        **dict.fromkeys(("patch", "applypatch"), "apply_patch"),
        **dict.fromkeys(("fetch", "web_fetch", "browse"), "webfetch"),
        **dict.fromkeys(("agent", "subagent", "delegate"), "task"),
        **dict.fromkeys(("todo", "update_plan", "todo_write"), "todowrite"),
        **dict.fromkeys(("ask", "ask_user", "askuserquestion"), "question"),
    }
)


def repair_unknown(name: str, *, offered: Collection[str]) -> JsonObject:
    """Build the arguments of `invalid` for a call of a tool that is not there."""
    shown = name if len(name) <= _NAME_CHARS else f"{name[:_NAME_CHARS]}…"
    guess = _guess(name, offered)
    meant = f" Did you mean {guess}?" if guess else ""
    names = ", ".join(sorted(offered)) or "none"
    return {
        "tool": shown,
        "error": f"There is no tool {shown!r}.{meant} Available tools: {names}.",
    }


def repair_unreadable(name: str, *, raw: str) -> JsonObject:
    """Build the arguments of `invalid` for a call whose arguments are not a JSON object."""
    shown = keep_head(raw, max_lines=_SHOWN_LINES, max_bytes=_SHOWN_BYTES)
    cut = f"\n({shown.left_out} not shown)" if shown.truncated else ""
    return {
        "tool": name,
        "error": (
            f"The arguments for {name} are not a JSON object: {_problem(raw)} "
            f"Send the call again.\nThey were: {shown.text}{cut}"
        ),
    }


def _guess(name: str, offered: Collection[str]) -> str:
    wanted = name[:_NAME_CHARS].lower().replace("-", "_")
    # `functions.read` and `mcp__files__read` are how some models and programs write names.
    for spelling in (wanted, wanted.rpartition(".")[2], wanted.rpartition("__")[2]):
        known = _ELSEWHERE.get(spelling, spelling)
        if known in offered:
            return known
    return next(iter(get_close_matches(wanted, sorted(offered), n=1, cutoff=0.6)), "")


def _problem(raw: str) -> str:
    """Returns: a sentence that says where it stops to be JSON."""
    try:
        value = read_json(raw)
    except json.JSONDecodeError as exc:
        if not raw[exc.pos :].strip():
            return f"the text ends too early, after {len(raw)} characters."
        near = raw[max(exc.pos - _NEAR_CHARS, 0) : exc.pos]
        then = raw[exc.pos : exc.pos + _NEAR_CHARS]
        at = f"line {exc.lineno}, column {exc.colno}"
        return f"{exc.msg.removesuffix(' at')} at {at}, after {near!r} and before {then!r}."
    except ValueError as exc:
        return f"{exc}."
    return f"it is {_KINDS.get(type(value), 'another value')}."


_KINDS: dict[type, str] = {
    list: "a list",
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
