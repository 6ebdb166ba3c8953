"""The entries of a folder."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from sessions.browse.file_scope import FileScope, as_invalid
from sessions.checkouts.repository import CheckoutError
from tools.paths import Located, open_folder
from tools.text_file import displayable

MAX_ENTRIES = 5_000


class FileNode(TypedDict):
    """An entry of a folder as the wire has it. Those of folders end with a slash in `path`."""

    name: str
    path: str
    absolute: str
    type: Literal["file", "directory"]
    ignored: bool


@dataclass(frozen=True)
class _Entry:
    name: str
    is_folder: bool


async def list_folder(scope: FileScope, path: str) -> list[FileNode]:
    """Returns: folders first, at most `MAX_ENTRIES`.

    Raises: NotFound; Invalid for what is no folder, or leaves the worktree.
    """
    located = scope.locate(path)
    entries = await asyncio.to_thread(_entries, located)
    ignored = await _ignored(scope, located, entries)
    return [_to_wire(scope, located, entry, ignored) for entry in entries]


def _entries(located: Located) -> list[_Entry]:
    try:
        with as_invalid(), open_folder(located) as fd, os.scandir(fd) as scan:
            found = [_Entry(entry.name, _is_folder(located, entry)) for entry in scan]
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise NotFound("Folder", located.relative) from exc
    found.sort(key=lambda entry: (not entry.is_folder, entry.name.casefold(), entry.name))
    return found[:MAX_ENTRIES]


def _is_folder(located: Located, entry: os.DirEntry[str]) -> bool:
    if not entry.is_symlink():
        return entry.is_dir(follow_symlinks=False)
    # Whether a folder outside exists is nobody's business.
    target = os.path.realpath(located.real / entry.name)
    if not target.startswith(f"{located.root}{os.sep}"):
        return False
    try:
        return stat.S_ISDIR(os.lstat(target).st_mode)
    except OSError:
        return False


async def _ignored(scope: FileScope, located: Located, entries: list[_Entry]) -> frozenset[str]:
    """The names that git ignores; none where it cannot be asked."""
    names = {_below(located, entry.name): entry.name for entry in entries}
    try:
        repository = await scope.find_repository()
        if repository is None or not names:
            return frozenset()
        said = await repository.ask(
            *("check-ignore", "-z", "--stdin"),
            given=b"".join(b"%s\0" % os.fsencode(f"./{name}") for name in names),
            fine=(0, 1),
        )
    except CheckoutError:
        # It only decides how a name is shown.
        return frozenset()
    found = (name.removeprefix("./") for name in said.split("\0"))
    return frozenset(names[name] for name in found if name in names)


def _below(located: Located, name: str) -> str:
    return "/".join((*located.parts, name))


def _to_wire(
    scope: FileScope, located: Located, entry: _Entry, ignored: frozenset[str]
) -> FileNode:
    path = os.path.relpath(located.path / entry.name, scope.directory)
    return {
        "name": displayable(entry.name),
        "path": displayable(f"{path}/" if entry.is_folder else path),
        "absolute": displayable(str(located.path / entry.name)),
        "type": "directory" if entry.is_folder else "file",
        "ignored": entry.name in ignored,
    }
