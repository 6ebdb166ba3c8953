"""What is known of a formatter, and which ones are for a file. Looks at what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from tools.lsp.roots import folders_above, has_any, read_small
from tools.programs import find_command

# Stands for the path of the file in a command.
FILE = "$FILE"
# Who switches one of them off means both: they do the same.
_TOGETHER = frozenset({"ruff", "uv"})


@dataclass(frozen=True)
class Wish:
    """Something of a project that says that it wants a formatter: a file, with a text in it."""

    names: tuple[str, ...]
    text: str = ""

    def is_there(self, folders: Sequence[Path], worktree: Path) -> bool:
        """Look in these folders of the worktree."""
        for folder in folders:
            if not self.text and has_any(folder, self.names):
                return True
            for name in self.names if self.text else ():
                if self.text.encode() in read_small(folder / name, worktree):
                    return True
        return False


@dataclass(frozen=True)
class Formatter:
    """One formatter. `extensions` are endings with their dot, `command` has FILE in it.

    With `wishes` it is used where the project has one of them; with `unless` where the formatter of
    that name is not.
    """

    name: str
    extensions: frozenset[str]
    command: tuple[str, ...]
    wishes: tuple[Wish, ...] = ()
    unless: str = ""
    env: tuple[tuple[str, str], ...] = ()

    def is_for(self, path: PurePath) -> bool:
        """Tell whether it understands files of this name."""
        return path.suffix.lower() in self.extensions

    def argv(self, folders: Sequence[Path], worktree: Path) -> tuple[str, ...] | None:
        """Returns: how it is called; None when it is not installed or the project wants it not."""
        if self.wishes and not any(wish.is_there(folders, worktree) for wish in self.wishes):
            return None
        return find_command([self.command], folders)


@dataclass(frozen=True)
class FormatterSetting:
    """What somebody has set for a formatter, known or of their own."""

    disabled: bool = False
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def apply_formatters(
    known: Mapping[str, Formatter], settings: Mapping[str, FormatterSetting]
) -> tuple[Formatter, ...]:
    """Put settings over the formatters that are known.

    Returns: those that are not disabled. One of somebody's own needs a command and extensions, else
    it is left out.
    """
    found = dict(known)
    for name, setting in settings.items():
        one = _changed(found.pop(name, Formatter(name, frozenset(), ())), setting)
        if setting.disabled and name in _TOGETHER:
            found = {other: kept for other, kept in found.items() if other not in _TOGETHER}
        elif not setting.disabled and one.command and one.extensions:
            found[name] = one
    return tuple(found.values())


def choose(
    formatters: Sequence[Formatter], file: Path, worktree: Path
) -> list[tuple[Formatter, tuple[str, ...]]]:
    """Returns: those to call for a file, in their order, with how. Paths are without links."""
    folders = list(folders_above(file, worktree))
    chosen: dict[str, tuple[Formatter, tuple[str, ...]]] = {}
    for one in formatters:
        if one.is_for(file) and one.unless not in chosen:
            argv = one.argv(folders, worktree)
            if argv is not None:
                chosen[one.name] = one, tuple(part.replace(FILE, str(file)) for part in argv)
    return list(chosen.values())


def _changed(one: Formatter, setting: FormatterSetting) -> Formatter:
    if setting.command:
        # Somebody who says how to call it wants it.
        one = replace(one, command=setting.command, wishes=(), unless="")
    if setting.extensions:
        one = replace(one, extensions=frozenset(name.lower() for name in setting.extensions))
    if setting.environment:
        one = replace(one, env=tuple(sorted(setting.environment.items())))
    return one
