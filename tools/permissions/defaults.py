"""The rules that come with the server: of every agent, and of the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opencode_web.lib.json import JsonObject
from tools.permissions.config import parse_ruleset
from tools.permissions.rules import Level, Ruleset

_READ: JsonObject = {
    "*": "allow",
    **{
        f"*{name}{rest}": "ask"
        # Patterns know case, and a file system may not.
        for name in (".env", ".ENV", ".Env")
        for rest in ("", ".*")
    },
    "*.env.example": "allow",
    # What MCP servers hold: like their tools, asked for.
    "mcp:*": "ask",
}

# Before every agent's own rules. Unlike the single-user original, changing files and running
# commands is asked for: a member of a team acts in a worktree that others share.
DEFAULTS: Ruleset = parse_ruleset(
    {
        "*": "allow",
        "edit": "ask",
        "bash": "ask",
        "doom_loop": "ask",
        # Of commands in the sandbox; file tools never leave the project, whatever a rule says.
        "external_directory": "ask",
        "question": "deny",
        "plan_enter": "deny",
        "plan_exit": "deny",
        "read": _READ,
    }
)


def _own(config: JsonObject) -> Ruleset:
    return tuple(replace(rule, for_agent=True) for rule in parse_ruleset(config))


# What the built-in agents say about themselves, after DEFAULTS.
AGENT_DEFAULTS: Mapping[str, Ruleset] = {
    "build": _own({"question": "allow", "plan_enter": "allow"}),
    "plan": _own(
        {
            "question": "allow",
            "plan_exit": "allow",
            "task": {"general": "deny"},
            "edit": {"*": "deny", ".opencode/plans/*.md": "allow"},
        }
    ),
    "general": _own({"todowrite": "deny"}),
    "explore": _own(
        {
            "*": "deny",
            "grep": "allow",
            "glob": "allow",
            "list": "allow",
            "lsp": "allow",
            "bash": "ask",
            "external_directory": "ask",
            "webfetch": "allow",
            "websearch": "allow",
            "codesearch": "allow",
            "read": _READ,
        }
    ),
    "compaction": _own({"*": "deny"}),
    "title": _own({"*": "deny"}),
    "summary": _own({"*": "deny"}),
}

# The last word of a session that strangers have a say in: it reads the files of its own worktree,
# and nothing of it opens anything else.
READ_ONLY_SESSION: Ruleset = tuple(
    replace(rule, level=Level.SESSION)
    for rule in parse_ruleset(
        {
            "*": "deny",
            **dict.fromkeys(("grep", "glob", "list", "todowrite", "todoread", "review"), "allow"),
            "read": {
                pattern: "deny" if action == "ask" else action for pattern, action in _READ.items()
            },
        }
    )
)
