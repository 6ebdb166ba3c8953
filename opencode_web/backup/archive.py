"""Archive a folder while others write into it.

People, agents and their programs write into these folders, so nothing in them is followed: every
folder is opened below its parent, and a link is archived as a link. What vanishes in between is no
error, and what changes is archived as it was read.

Repositories stay whole: their refs are copied before their objects, and nothing removes objects but
git itself when it packs them. Then they are looked for again. The objects of all repositories come
last, since repositories borrow from each other.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, cast

from opencode_web.backup.errors import BackupError
from opencode_web.backup.layout import DATA, Root

# Of folders in folders. Nobody works deeper, and every one of them is an open file.
MAX_DEPTH = 200
_OBJECT_ROUNDS = 6
_GIT = frozenset({"HEAD", "objects", "refs"})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass
class Archive:
    """Writes one folder into a tar stream.

    `left_out`: folders, as `layout.identities` tells them. `tick`: called after each file.
    """

    root: Root
    target: IO[bytes]
    left_out: frozenset[tuple[int, int]]
    tick: Callable[[int], None] = lambda _size_bytes: None
    files: int = 0
    changed: int = 0
    unreadable: int = 0
    _objects: list[str] = field(default_factory=list)
    # While objects are copied: the paths that are in the archive already.
    _written: set[str] | None = None
    _vanished: bool = False

    def write(self) -> None:
        """Write everything that belongs into a backup."""
        target = cast("IO[bytes]", _Target(self.target))
        with tarfile.open(fileobj=target, mode="w|", format=tarfile.GNU_FORMAT) as tar:
            self._tar = tar
            if not self.root.path.is_dir():
                return
            fd = os.open(self.root.path, _FOLDER)
            try:
                self._entries(fd, "", 0)
                for folder in self._objects:
                    self._add_objects(fd, folder)
            finally:
                os.close(fd)

    def _entries(self, fd: int, above: str, depth: int) -> None:
        with os.scandir(fd) as scanned:
            names = sorted(entry.name for entry in scanned)
        if names and _GIT.issubset(names):
            # A ref that is packed meanwhile is in one of the two.
            names.sort(key=lambda name: name == "packed-refs")
            self._objects.append(f"{above}objects")
            names.remove("objects")
        for name in names:
            if depth or not self.root.is_kept(name):
                self._add(fd, name, f"{above}{name}", depth)

    def _add(self, parent: int, name: str, path: str, depth: int) -> None:
        try:
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode) and self.root.name == DATA and not depth:
                # An operator has put a folder of the server's own elsewhere.
                found = os.stat(name, dir_fd=parent)
                if stat.S_ISDIR(found.st_mode):
                    self._add_folder(parent, name, path, depth, follow=True)
            elif stat.S_ISDIR(found.st_mode):
                self._add_folder(parent, name, path, depth)
            elif stat.S_ISREG(found.st_mode):
                self._add_file(parent, name, path)
            elif stat.S_ISLNK(found.st_mode) and self.root.allows_link(path):
                info = _info(path, found, tarfile.SYMTYPE)
                info.linkname = os.readlink(name, dir_fd=parent)
                self._tar.addfile(info)
        except FileNotFoundError:
            self._vanished = True
        except OSError:
            # Another kind of file by now, or one that this user may not read.
            self.unreadable += 1

    def _add_folder(
        self, parent: int, name: str, path: str, depth: int, *, follow: bool = False
    ) -> None:
        flags = _FOLDER & ~os.O_NOFOLLOW if follow else _FOLDER
        fd = os.open(name, flags, dir_fd=parent)
        try:
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) in self.left_out:
                return
            if depth >= MAX_DEPTH:
                self.unreadable += 1
                return
            if self._is_new(path):
                self._tar.addfile(_info(path, found, tarfile.DIRTYPE))
            self._entries(fd, f"{path}/", depth + 1)
        finally:
            os.close(fd)

    def _is_new(self, path: str) -> bool:
        if self._written is None:
            return True
        is_new = path not in self._written
        self._written.add(path)
        return is_new

    def _add_file(self, parent: int, name: str, path: str) -> None:
        # Not to wait for the other end of what has become a pipe.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, dir_fd=parent), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not self._is_new(path):
                return
            info = _info(path, found, tarfile.REGTYPE)
            info.size = found.st_size
            exact = _Exact(file)
            self._tar.addfile(info, cast("IO[bytes]", exact))
            self.changed += exact.is_padded or os.fstat(file.fileno()).st_size != found.st_size
        self.files += 1
        self.tick(found.st_size)

    def _add_objects(self, root: int, path: str) -> None:
        *parents, name = path.split("/")
        with _opened(root, parents) as parent:
            if parent is None:
                return
            self._written = set()
            # Git writes a pack before it removes what is in it, so what vanished is found again.
            for _ in range(_OBJECT_ROUNDS):
                self._vanished = False
                self._add(parent, name, path, len(parents))
                if not self._vanished:
                    return
            self.unreadable += 1


class _Target:
    """Tells what fails in writing the archive from what fails in reading a file."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target

    def write(self, data: bytes) -> int:
        try:
            return self._target.write(data)
        except OSError as exc:
            raise BackupError(f"The backup cannot be written ({exc.strerror}).") from exc


class _Exact:
    """Reads as many bytes as were announced, whatever becomes of the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.is_padded = False

    def read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except OSError:
            data = b""
        if len(data) < size:
            self.is_padded = True
        return data.ljust(size, b"\0")


def _info(path: str, found: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.mode = kind, stat.S_IMODE(found.st_mode) & 0o777
    info.mtime = int(found.st_mtime)
    return info


@contextmanager
def _opened(root: int, names: list[str]) -> Iterator[int | None]:
    """Open a folder below another without following a link. Yields: None when it is gone."""
    fd: int | None = os.dup(root)
    try:
        for name in names:
            assert fd is not None
            above, fd = fd, None
            try:
                fd = os.open(name, _FOLDER, dir_fd=above)
            finally:
                os.close(above)
        yield fd
    except OSError:
        if fd is None:
            yield None
        else:
            raise
    finally:
        if fd is not None:
            os.close(fd)
