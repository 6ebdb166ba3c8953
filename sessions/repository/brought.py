"""The agents, commands, tools, plugins and settings of a repository, and one digest of all.

Source: behaviour facts 6.3, below `.opencode` in the root of the worktree.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from sessions.models import ToolDescription
from sessions.repository.globs import find_files
from sessions.repository.problems import Problem
from sessions.repository.reading import MAX_FILE_BYTES, Unavailable, read_instructions
from sessions.repository.references import paths_in, read_referenced
from tools.redaction import Redactor

MAX_FILES = 200
MAX_REFERENCES = 50
ROOT = ".opencode"
# In this order, as in OpenCode: of what two of them say, the later counts.
SETTINGS_FILES = (
    "opencode.json",
    "opencode.jsonc",
    f"{ROOT}/opencode.json",
    f"{ROOT}/opencode.jsonc",
)
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"


class BroughtKind(StrEnum):
    """What a file is for."""

    AGENT = "agent"
    # An agent that people choose; an older form.
    MODE = "mode"
    COMMAND = "command"
    TOOL = "tool"
    # Lies beside tools, which may import or read it.
    PART_OF_TOOLS = "part of tools"
    PLUGIN = "plugin"
    # Lies beside plugins, which may import it.
    PART_OF_PLUGINS = "part of plugins"
    SETTINGS = "settings"
    # Its text is taken in by settings.
    TAKEN_IN = "taken in"


PLUGINS = (BroughtKind.PLUGIN, BroughtKind.PART_OF_PLUGINS)
_RUN = (BroughtKind.TOOL, BroughtKind.PART_OF_TOOLS, *PLUGINS)


@dataclass(frozen=True)
class BroughtFile:
    """`path` is relative to the worktree; `name` is what the file defines by it; `digest` is the
    SHA-256 of what is in the file, in hex."""

    kind: BroughtKind
    path: str
    name: str
    text: str
    digest: str
    # A plugin has set it, and `path` is that plugin.
    by_plugin: bool = False

    @classmethod
    def of(cls, kind: BroughtKind, path: str, name: str, text: str) -> BroughtFile:
        return cls(kind, path, name, text, hashlib.sha256(text.encode()).hexdigest())


@dataclass(frozen=True)
class Package:
    """A plugin of the team or the server: an npm package as somebody has trusted it. `hooks` are
    those that its texts name, `options` what the settings of the repository give it, as JSON."""

    name: str
    version: str
    digest: str
    hooks: tuple[str, ...]
    reloads: int = 0
    options: str = ""

    @property
    def path(self) -> str:
        """What it is called where a plugin of a repository is called by its path."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True)
class Brought:
    """Everything that needs trust to be more than text. `is_trusted` is about exactly this.

    `packages` are the team's and the server's: they run whatever becomes of the files.
    """

    files: tuple[BroughtFile, ...] = ()
    problems: tuple[Problem, ...] = ()
    is_trusted: bool = False
    # How often somebody has had the plugins loaded anew.
    reloads: int = 0
    packages: tuple[Package, ...] = ()
    # What the tools and plugins said when they were loaded, and what plugins have set then.
    description: ToolDescription | None = None
    by_plugins: tuple[BroughtFile, ...] = ()

    def of(self, *kinds: BroughtKind) -> list[BroughtFile]:
        """Returns: the files of these kinds, in the order in which they count."""
        return [file for file in self.files if file.kind in kinds]

    def set_by_plugins(self, kind: BroughtKind) -> list[BroughtFile]:
        """Returns: what plugins have set of a kind."""
        return [file for file in self.by_plugins if file.kind is kind]

    @property
    def digest(self) -> str:
        """Of the paths and contents of all files; changes with any of them."""
        return digest_of(self.files)

    def run(self, *kinds: BroughtKind) -> list[BroughtFile]:
        """Returns: the files of these kinds if they may be run."""
        return self.of(*kinds) if self.is_trusted else []

    @property
    def runs_plugins(self) -> bool:
        """Whether there are plugins, and they are trusted."""
        return bool(self.packages or self.run(BroughtKind.PLUGIN))

    def masked(self, redactor: Redactor) -> Brought:
        """Returns: the same with secrets masked in all but what is run as it is."""

        def mask(files: Iterable[BroughtFile]) -> tuple[BroughtFile, ...]:
            return tuple(
                one if one.kind in _RUN else replace(one, text=redactor.text(one.text))
                for one in files
            )

        return replace(self, files=mask(self.files), by_plugins=mask(self.by_plugins))

    @property
    def run_digest(self) -> str:
        """Of the tools and plugins that may be run and what lies beside them."""
        files = digest_of(tuple(self.run(*_RUN)))
        if not self.packages:
            return files
        return hashlib.sha256(repr((files, self.packages)).encode()).hexdigest()


NOTHING = Brought()

_MARKDOWN = (
    (BroughtKind.AGENT, "agent", "**/*.md"),
    (BroughtKind.AGENT, "agents", "**/*.md"),
    (BroughtKind.MODE, "mode", "*.md"),
    (BroughtKind.MODE, "modes", "*.md"),
    (BroughtKind.COMMAND, "command", "**/*.md"),
    (BroughtKind.COMMAND, "commands", "**/*.md"),
)
_TOOL_FOLDERS = ("tool", "tools")
TOOL_SUFFIXES = (".py", ".js", ".mjs", ".ts")
_PLUGIN_FOLDERS = ("plugin", "plugins")
_PLUGIN_SUFFIXES = (".js", ".mjs", ".ts")


def read_brought(worktree: Path) -> Brought:
    """Read what a worktree brings, as it is now; a new file is seen some seconds later.

    A file that cannot be told apart by its text (too large, not UTF-8) is left out and reported,
    and one beside tools or plugins takes all of them with it: they could import it.
    """
    files: list[BroughtFile] = []
    problems: list[Problem] = []
    whole = True
    for kind, name, path in _paths(worktree):
        if len(files) == MAX_FILES:
            problems.append(Problem(ROOT, f"There are more than {MAX_FILES} files in it."))
            break
        shown = path.relative_to(worktree).as_posix()
        try:
            text = read_instructions(worktree, path)
            reason = _unusable(kind, path, text or "")
        except (Unavailable, OSError):
            text, reason = "", "It cannot be read now."
        if reason:
            problems.append(Problem(shown, reason))
            whole = whole and kind not in _RUN
        elif text is not None:  # else it is gone, or lies outside of the worktree
            files.append(BroughtFile.of(kind, shown, name, text))
    for file in [one for one in files if one.kind is BroughtKind.SETTINGS]:
        _take_in(worktree, file, files, problems)
    if not whole or len(files) >= MAX_FILES:
        files = [one for one in files if one.kind not in _RUN]
    return Brought(tuple(sorted(files, key=_place)), tuple(problems))


def _take_in(
    worktree: Path, settings: BroughtFile, files: list[BroughtFile], problems: list[Problem]
) -> None:
    """Add the files whose text the settings take in: with one of them these change, too."""
    paths = paths_in(settings.text)
    if len(paths) > MAX_REFERENCES:
        problems.append(Problem(settings.path, f"It names more than {MAX_REFERENCES} files."))
    for path in paths[:MAX_REFERENCES]:
        found = read_referenced(worktree, posixpath.dirname(settings.path), path)
        if found.reason:
            problems.append(Problem(settings.path, f"{{file:{path[:100]}}}: {found.reason}"))
            continue
        file = BroughtFile.of(BroughtKind.TAKEN_IN, found.path, "", found.text)
        if file not in files:
            files.append(file)


def _place(file: BroughtFile) -> tuple[int, str]:
    """Settings in the order in which they count, then the others by their path."""
    is_settings = file.kind is BroughtKind.SETTINGS
    return (SETTINGS_FILES.index(file.path) if is_settings else len(SETTINGS_FILES), file.path)


def _paths(worktree: Path) -> Iterator[tuple[BroughtKind, str, Path]]:
    root = str(worktree)
    for name in SETTINGS_FILES:
        if os.path.lexists(f"{root}/{name}"):
            yield BroughtKind.SETTINGS, name, worktree / name
    for kind, folder, pattern in _MARKDOWN:
        for path in find_files(worktree, f"{ROOT}/{folder}/{pattern}"):
            base = worktree / ROOT / folder
            yield kind, path.relative_to(base).with_suffix("").as_posix(), path
    for folder in _TOOL_FOLDERS:
        for path in find_files(worktree, f"{ROOT}/{folder}/**"):
            if "__pycache__" in path.parts:
                continue  # what runs tools neither writes nor reads these
            is_tool = path.parent == worktree / ROOT / folder and path.suffix in TOOL_SUFFIXES
            yield (BroughtKind.TOOL if is_tool else BroughtKind.PART_OF_TOOLS), path.stem, path
    # One pattern for both folders: most repositories have neither.
    for path in find_files(worktree, f"{ROOT}/plugin*/**"):
        folder, *below = path.relative_to(worktree / ROOT).parts
        if folder not in _PLUGIN_FOLDERS:
            continue
        is_plugin = len(below) == 1 and path.suffix in _PLUGIN_SUFFIXES
        kind = BroughtKind.PLUGIN if is_plugin else BroughtKind.PART_OF_PLUGINS
        yield kind, path.stem, path


def _unusable(kind: BroughtKind, path: Path, text: str) -> str:
    if kind in _RUN and path.is_symlink():
        return "It is a link."
    if path.stat().st_size > MAX_FILE_BYTES:
        return f"It is larger than {MAX_FILE_BYTES // 1024} KiB."
    return "It is not UTF-8 text." if _UNREADABLE in text else ""


@lru_cache(maxsize=32)
def digest_of(files: tuple[BroughtFile, ...]) -> str:
    """Returns: SHA-256 in hex over every path and content."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.kind}\0{file.path}\0{file.digest}\n".encode())
    return whole.hexdigest()
