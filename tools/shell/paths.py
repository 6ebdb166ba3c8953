"""The paths that commands of a shell line name: outside the worktree, and inside of it.

Pure, but for the two functions that say that they look.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from tools.sandbox.mounts import HOME
from tools.shell.command import Command
from tools.shell.words import Word
from tools.shell.wrappers import base_name, is_unread, runs_others

_PATH_TAKERS = "cat cd chdir chmod chown cp ln mkdir mv popd pushd rm rmdir tee touch"
_TAKES_PATHS = frozenset(_PATH_TAKERS.split())
# These name a file without reading it.
_ONLY_NAME = (
    "[ alias basename cd chdir chmod chown command declare dirname echo export false kill local ls "
    "mkdir popd printf pushd pwd read readlink realpath rm rmdir set shift sleep stat test touch "
    "true type typeset unset wait which"
)
_NO_READERS = frozenset(_ONLY_NAME.split())
# These print what is in the files that they name.
_PRINT = "awk bat cat cut diff egrep fgrep git grep head less more nl rg sed sort tac tail uniq"
_SHOW = frozenset(_PRINT.split())
_STREAMS = (Path("/dev"), Path("/proc/self/fd"))
# In the sandbox every session has its own of these.
_OWN = (HOME, Path("/tmp"))  # noqa: S108
_MAX_PATHS = 500
_MAX_ENTRIES = 5_000
_MAX_PATH_CHARS = 4_096


def named_outside(
    commands: Iterable[Command], targets: Iterable[Word], *, directory: Path, worktree: Path
) -> Iterator[str]:
    """Yield the absolute paths of arguments and redirections that leave the worktree.

    What only a shell knows is left out: the sandbox judges it when it runs.
    """
    for text in _path_texts(commands, targets):
        path = Path(os.path.normpath(directory / text))
        if not path.is_relative_to(worktree) and not any(map(path.is_relative_to, _STREAMS)):
            # A slash at the end says that it is a folder, to `folder_patterns` too.
            yield f"{path}/" if text.endswith("/") and str(path) != "/" else str(path)


def named_inside(
    commands: Iterable[Command], targets: Iterable[Word], *, directory: Path, worktree: Path
) -> Iterator[str]:
    """Yield what commands may read in the worktree, relative to it; wildcards as they are."""
    yield from _inside([*_read_words(commands), *targets], directory, worktree)


def shown_inside(commands: Iterable[Command], *, directory: Path, worktree: Path) -> Iterator[str]:
    """Yield, as `named_inside`, the files whose content commands print."""
    words = [
        word
        for command in commands
        if command.name is not None
        and (command.name.text in _SHOW or is_unread(base_name(command.name)))
        for word in command.words[1:]
    ]
    yield from _inside(words, directory, worktree)


def _inside(words: Iterable[Word], directory: Path, worktree: Path) -> Iterator[str]:
    count = 0
    for word in words:
        text = _path_of(word.text)
        if word.expands or not text or len(text) > _MAX_PATH_CHARS or "\n" in text:
            continue
        path = Path(os.path.normpath(directory / text))
        if path.is_relative_to(worktree) and path != worktree and count < _MAX_PATHS:
            count += 1
            yield path.relative_to(worktree).as_posix()


def _read_words(commands: Iterable[Command]) -> Iterator[Word]:
    for command in commands:
        if command.name is None or command.name.text in _NO_READERS:
            continue
        # A script is no name, and is judged by what it runs.
        has_scripts = runs_others(command.name)
        yield from (word for word in command.words[1:] if not (has_scripts and " " in word.text))


def _path_of(text: str) -> str:
    """Of `--file=.env` the value, of `@.env` what curl reads."""
    value = text.partition("=")[2] if text.startswith("-") or "=@" in text else text
    return (value or text).removeprefix("@")


def without_own(outside: Iterable[str]) -> tuple[str, ...]:
    """Returns: the paths that are not the session's own as commands in the sandbox see them."""
    return tuple(path for path in outside if not any(map(Path(path).is_relative_to, _OWN)))


def folder_patterns(outside: Iterable[str]) -> tuple[str, ...]:
    """Returns: what to ask `external_directory` for: the folder of each path, or itself as one.

    Looks at what is a folder.
    """
    folders = (
        path.rstrip("/") if path.endswith("/") or Path(path).is_dir() else str(Path(path).parent)
        for path in outside
    )
    return tuple(dict.fromkeys(f"{folder.rstrip('/')}/*" for folder in folders))


def existing_names(inside: Iterable[str], worktree: Path) -> tuple[str, ...]:
    """Returns: the paths themselves, what wildcards in a last part stand for, and where links lead.

    Looks at the worktree, so it is only a look: who runs commands can change it at once.
    """
    names: dict[str, None] = {}
    root = Path(os.path.realpath(worktree))
    for text in inside:
        names[text] = None
        folder, _, last = text.rpartition("/")
        found = _matching(worktree / folder, last) if set("*?[") & set(last) else [last]
        for name in found:
            path = f"{folder}/{name}" if folder else name
            names[path] = None
            real = Path(os.path.realpath(worktree / path))
            if real.is_relative_to(root) and real != root:
                names[real.relative_to(root).as_posix()] = None
    return tuple(names)


def _matching(folder: Path, pattern: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _MAX_ENTRIES)]
    except OSError:
        return []
    # As in bash, a wildcard stands for no leading dot.
    names = [name for name in names if pattern.startswith(".") or not name.startswith(".")]
    return [name for name in names if fnmatchcase(name, pattern)][:_MAX_PATHS]


def _path_texts(commands: Iterable[Command], targets: Iterable[Word]) -> Iterator[str]:
    for command in commands:
        name = command.name
        if name is None:
            continue
        base = name.text.rpartition("/")[2]
        if base not in _TAKES_PATHS and not is_unread(base):
            continue
        for word in command.words[1:]:
            skipped = word.text.startswith(("-", "(")) or (
                name.text == "chmod" and word.text.startswith("+")
            )
            if not skipped:
                yield from _text(word)
    for target in targets:
        yield from _text(target)


def _text(word: Word) -> Iterator[str]:
    if word.expands or len(word.text) > _MAX_PATH_CHARS:
        return
    text = word.text
    if word.globs:
        for wildcard in "?*[":
            text = text.split(wildcard, 1)[0]
        # `/etc/*` is about the folder, `/etc/pass*` too.
        text = text[: text.rfind("/") + 1]
    if text:
        yield text
