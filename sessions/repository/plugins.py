"""Plugins of a repository: which of their hooks are called, and why others are not. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from opencode_web.lib.json import JsonObject, object_of
from sessions.repository.brought import Brought, BroughtFile, BroughtKind

BEFORE_CALL = "tool.execute.before"
AFTER_CALL = "tool.execute.after"
MESSAGE = "chat.message"
SYSTEM = "experimental.chat.system.transform"
PARAMS = "chat.params"
SHELL_ENV = "shell.env"
HISTORY = "experimental.chat.messages.transform"
COMPACTING = "experimental.session.compacting"
GO_ON = "experimental.compaction.autocontinue"
COMMAND = "command.execute.before"
TEXT = "experimental.text.complete"
DEFINITION = "tool.definition"
EVENT = "event"
DISPOSE = "dispose"
CONFIG = "config"
# Where parts say in their metadata what plugins did to them.
NOTES = "plugins"
# Beside what came of a hook: changed, failed, late.
WROTE, SAID = "wrote", "said"
# How long each may take for all plugins together. Units: seconds.
LIMITS_S = {
    BEFORE_CALL: 5.0,
    AFTER_CALL: 5.0,
    MESSAGE: 2.0,
    SYSTEM: 2.0,
    PARAMS: 1.0,
    SHELL_ENV: 5.0,
    HISTORY: 2.0,
    COMPACTING: 2.0,
    GO_ON: 2.0,
    COMMAND: 2.0,
    TEXT: 2.0,
    DEFINITION: 2.0,
}
HOOKS = frozenset({*LIMITS_S, EVENT, DISPOSE, CONFIG})
# Names without a dot stand in texts without quotes.
_NAMED = {name: re.compile(rf"\b{name}\s*[:(]") for name in (EVENT, DISPOSE, CONFIG)}
_SERVER = "Keys and providers belong to the server."
REFUSED = {
    "auth": _SERVER,
    "provider": _SERVER,
    "chat.headers": "Headers could carry keys or change who pays.",
    "permission.ask": "No code of a repository approves what it does itself.",
    "experimental.provider.small_model": _SERVER,
}
# What the hook `config` may set, and which of its values is the text below a file's head.
_SETS = {"agent": (BroughtKind.AGENT, "prompt"), "command": (BroughtKind.COMMAND, "template")}
# So often may a plugin take too long before it is switched off.
MOST_LATE = 3


@dataclass(frozen=True)
class Plugin:
    """A plugin by its `path` in the worktree.

    `late`: how often it has taken too long; `failed`: why it could not be loaded.
    """

    path: str
    hooks: tuple[str, ...]
    late: int = 0
    failed: str = ""

    @property
    def is_off(self) -> bool:
        """Whether it is called no more."""
        return self.late >= MOST_LATE


@dataclass(frozen=True)
class PluginNote:
    """What a plugin did in a hook: `did` is changed, failed, late, or what it did by `client`:
    wrote, said. `why` it failed, or what it said."""

    path: str
    hook: str
    did: str
    why: str = ""

    def to_json(self) -> JsonObject:
        """Returns: as it stands in the log of the session."""
        said: JsonObject = {"why": self.why} if self.why else {}
        return {"path": self.path, "hook": self.hook, "did": self.did, **said}


def is_by_plugins(part: JsonObject) -> bool:
    """Whether plugins have written a part, in the name of a person."""
    notes = object_of(part, "metadata").get(NOTES)
    return isinstance(notes, list) and any(
        isinstance(note, dict) and note.get("did") == WROTE for note in notes
    )


def files_of_config(path: str, config: JsonObject) -> Iterator[BroughtFile]:
    """Yields: the agents and commands that the hook `config` of a plugin has set, as files that
    say the same."""
    for key, (kind, below) in _SETS.items():
        for name, one in object_of(config, key).items():
            if isinstance(one, dict):
                head = {field: value for field, value in one.items() if field != below}
                text = f"---\n{json.dumps(head, ensure_ascii=False)}\n---\n{one.get(below) or ''}"
                yield replace(BroughtFile.of(kind, path, name, text), by_plugin=True)


def named_in(text: str) -> list[str]:
    """Returns: the hooks that a plugin seems to have, by its text: it has not been loaded."""
    quoted = [name for name in LIMITS_S if f'"{name}"' in text or f"'{name}'" in text]
    return sorted(quoted + [name for name, named in _NAMED.items() if named.search(text)])


def assumed(brought: Brought) -> tuple[Plugin, ...]:
    """Returns: the plugins that are trusted, in the order in which they load, as long as they
    could not be asked what they have."""
    files = brought.run(BroughtKind.PLUGIN)
    return (
        *(Plugin(package.path, package.hooks) for package in brought.packages),
        *(Plugin(file.path, tuple(named_in(file.text))) for file in files),
    )
