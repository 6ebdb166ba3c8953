"""The settings in a repository's own `opencode.json`. Whoever may write there wrote them. Pure.

What only chooses or tightens counts as it is. What starts a program, fetches something or opens a
rule waits until an administrator has trusted the files. And what is about keys, addresses, bounds
and the network is never a repository's word. Its rules are read by `sessions.rules.repository`, its
agents and commands with those of `.opencode`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from opencode_web.lib.config_references import fill_files, within
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.jsonc import parse_jsonc
from sessions.repository.brought import Brought, BroughtFile, BroughtKind
from sessions.repository.problems import Problem
from sessions.repository.references import PLACES

UNTIL_TRUSTED = "It counts once these files are trusted."
_NEVER = {
    "provider": "Providers, their addresses and keys are set up in the settings of the team.",
    "disabled_providers": "Which providers there are is set up in the settings of the team.",
    "enabled_providers": "Which providers there are is set up in the settings of the team.",
    "mcp": "MCP servers are set up in the settings of the team.",
    "network": "What commands reach is set up in the settings of the team and the project.",
    "limits": "Limits are set up in the settings of the team and the project.",
    "share": "Sharing is set up in the settings of the team and the project.",
    "sharing": "Sharing is set up in the settings of the team and the project.",
    "worktree": "Where sessions work is set up in the settings of the team and the project.",
}
# They choose, or bound what a model is told: nothing of it can open anything.
_HARMLESS = frozenset(
    {
        *("model", "small_model", "default_agent"),
        *("tool_output", "attachment", "compaction"),
    }
)
# The text would take the place of the one that people have written.
_NEEDS_TRUST = frozenset({"references", "reference", "instructions_text"})
_ADDRESS = ("http://", "https://")


@dataclass(frozen=True)
class Ignored:
    """One setting that does not count, where it stands, and why, as a sentence."""

    key: str
    path: str
    reason: str

    @property
    def waits(self) -> bool:
        """Whether it would count with trust."""
        return self.reason.startswith(UNTIL_TRUSTED)


@dataclass(frozen=True)
class RepositorySettings:
    """What the files say, as if they were one; `paths` names the file that says a key last."""

    data: JsonObject
    paths: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Sifted:
    """What counts of a repository's settings, over those below it, and what does not."""

    data: JsonObject
    ignored: tuple[Ignored, ...] = ()


def read_repository_settings(brought: Brought) -> RepositorySettings:
    """Read the settings' files among what a repository brings; a broken one is left out."""
    return _read(tuple(brought.of(BroughtKind.SETTINGS)), tuple(brought.of(BroughtKind.TAKEN_IN)))


@lru_cache(maxsize=128)
def _read(files: tuple[BroughtFile, ...], taken_in: tuple[BroughtFile, ...]) -> RepositorySettings:
    texts = {file.path: file.text for file in taken_in}
    data: JsonObject = {}
    paths: dict[str, str] = {}
    problems: list[Problem] = []
    for file in files:
        try:
            found = parse_jsonc(file.text)
        except ValueError as exc:
            problems.append(Problem(file.path, f"It does not count: {exc}."))
            continue
        if not isinstance(found, dict):
            problems.append(Problem(file.path, "It does not count: it must be an object."))
            continue
        read = partial(_text, texts, posixpath.dirname(file.path))
        found = fill_files(found, PLACES, read)
        for key, value in found.items():
            data[key] = _joined(data.get(key), value)
            paths[key] = file.path
    return RepositorySettings(data, paths, tuple(problems))


def _text(texts: Mapping[str, str], folder: str, path: str) -> str | None:
    return texts.get(within(folder, path) or "")


def _joined(base: JsonValue, over: JsonValue) -> JsonValue:
    if isinstance(base, dict) and isinstance(over, dict):
        return {
            **base,
            **{key: _joined(base.get(key), value) for key, value in over.items()},
        }
    return over


def sift(found: RepositorySettings, below: JsonObject, *, is_trusted: bool) -> Sifted:
    """Take what counts over the settings `below`, which are those of people."""
    kept: JsonObject = {}
    ignored: list[Ignored] = []
    for key, value in found.data.items():
        rest, reason = _part(key, value, below, is_trusted)
        if rest is not None:
            kept[key] = rest
        if reason:
            ignored.append(Ignored(key, found.paths[key], reason))
    return Sifted(kept, tuple(ignored))


# What counts of a value, or None, and why not all of it, or nothing.
_Part = tuple[JsonValue, str]


def _part(key: str, value: JsonValue, below: JsonObject, is_trusted: bool) -> _Part:
    if key in _NEVER:
        return None, _NEVER[key]
    if key in _HARMLESS or (is_trusted and (key in _NEEDS_TRUST or key in _PARTLY)):
        return value, ""
    if key in _NEEDS_TRUST:
        return None, UNTIL_TRUSTED
    partly = _PARTLY.get(key)
    # Anything else is read elsewhere, or by nobody.
    return partly(value, below.get(key)) if partly else (None, "")


def _programs(value: JsonValue, below: JsonValue) -> _Part:
    """Of language servers and formatters, that they are off."""
    if value is False:
        return False, ""
    if below in (None, False) or not isinstance(value, dict):
        return None, UNTIL_TRUSTED
    off: JsonObject = {
        name: {"disabled": True}
        for name, one in value.items()
        if isinstance(one, dict) and one.get("disabled") is True
    }
    # Where people have switched all of them on, an object over that would say the same.
    return off or None, "" if len(off) == len(value) else UNTIL_TRUSTED


def _switches(value: JsonValue, below: JsonValue) -> _Part:
    """Of tools that are not for everybody, those that are switched off."""
    if not isinstance(value, dict):
        return value, ""
    off: JsonObject = {key: False for key, one in value.items() if one is False}
    return off, "" if len(off) == len(value) else UNTIL_TRUSTED


def _search(value: JsonValue, below: JsonValue) -> _Part:
    is_off = value is False or (isinstance(value, dict) and value.get("enabled") is False)
    return ({"enabled": False}, "") if is_off else (None, UNTIL_TRUSTED)


def _depth(value: JsonValue, below: JsonValue) -> _Part:
    most = below if isinstance(below, int) else 1
    is_less = isinstance(value, int) and value <= most
    return (value, "") if is_less else (None, UNTIL_TRUSTED)


def _instructions(value: JsonValue, below: JsonValue) -> _Part:
    if not isinstance(value, list):
        return value, ""
    files = [one for one in value if not _is_address(one)]
    return files, "" if len(files) == len(value) else f"{UNTIL_TRUSTED} Files count already."


def _skills(value: JsonValue, below: JsonValue) -> _Part:
    if not isinstance(value, dict) or not value.get("urls"):
        return value, ""
    return {"paths": value.get("paths", [])}, f"{UNTIL_TRUSTED} Folders count already."


def _is_address(value: JsonValue) -> bool:
    return isinstance(value, str) and value.lower().startswith(_ADDRESS)


_PARTLY: Mapping[str, Callable[[JsonValue, JsonValue], _Part]] = {
    "lsp": _programs,
    "formatter": _programs,
    "experimental": _switches,
    "websearch": _search,
    "subagent_depth": _depth,
    "instructions": _instructions,
    "skills": _skills,
}
