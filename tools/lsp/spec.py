"""What is known of a language server before it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from opencode_web.lib.json import JsonObject

# Shorter ones are switches, and stand in every second sentence.
_SECRET_CHARS = 6


@dataclass(frozen=True)
class ServerSpec:
    """One server. Hashable: servers that run are told apart by it.

    `extensions` are endings of names with their dot, or whole names in lower case. `commands` are
    the ways to start it; the first whose program is installed is used. `markers` are groups of
    names or patterns: the root is the nearest folder at or above a file with something of the first
    group that is found at all. Without one it is the worktree, or nothing when `needs_marker`.
    With something of `unless` above a file the server is not for it. `env` are names and values,
    `initialization` is JSON.
    """

    id: str
    extensions: frozenset[str]
    commands: tuple[tuple[str, ...], ...]
    markers: tuple[tuple[str, ...], ...] = ()
    needs_marker: bool = False
    unless: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    initialization: str = "{}"
    # Pyright and ty are told which Python the project has.
    python: bool = False
    # Text in a file of the first marker that makes it the root although a nearer one was found.
    outermost: str = ""

    def is_for(self, path: PurePath) -> bool:
        """Tell whether it understands files of this name."""
        return not self.extensions.isdisjoint((path.suffix.lower(), path.name.lower()))

    def redact(self, text: str) -> str:
        """Take the values of its environment out of what it says to people."""
        for _, value in self.env:
            if len(value) >= _SECRET_CHARS:
                text = text.replace(value, "•••")
        return text

    @property
    def options(self) -> JsonObject:
        """What it is told when it starts."""
        options: JsonObject = json.loads(self.initialization)
        return options


@dataclass(frozen=True)
class ServerSetting:
    """What somebody has set for a server, known or of their own."""

    disabled: bool = False
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    initialization: JsonObject = field(default_factory=dict)


def apply_settings(
    known: Mapping[str, ServerSpec], settings: Mapping[str, ServerSetting]
) -> tuple[ServerSpec, ...]:
    """Put settings over the servers that are known.

    Returns: those that are not disabled. One of somebody's own needs a command and extensions, else
    it is left out.
    """
    specs = dict(known)
    for name, setting in settings.items():
        base = specs.pop(name, ServerSpec(name, frozenset(), ()))
        spec = _changed(base, setting)
        if not setting.disabled and spec.commands and spec.extensions:
            specs[name] = spec
    return tuple(specs.values())


def _changed(spec: ServerSpec, setting: ServerSetting) -> ServerSpec:
    if setting.command:
        spec = replace(spec, commands=(setting.command,))
    if setting.extensions:
        spec = replace(spec, extensions=frozenset(one.lower() for one in setting.extensions))
    if setting.env:
        spec = replace(spec, env=tuple(sorted({**dict(spec.env), **setting.env}.items())))
    if setting.initialization:
        merged = {**spec.options, **setting.initialization}
        spec = replace(spec, initialization=json.dumps(merged, sort_keys=True))
    return spec
