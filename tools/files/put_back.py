"""Put files and links of a worktree back to an earlier state, without losing what is there now.

A path is hostile and so is what lies at it: a command in a sandbox can swap a folder for a link at
any moment. Every step goes from the descriptor of the folder above and follows no link. What is
replaced or removed has to be, byte for byte, what the caller says is there: anything else was
written by somebody in the meantime, is in no snapshot, and stays.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOCK_WAIT_S = 5.0
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that a command left in the worktree must not hang the server.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK_BYTES = 1024 * 1024
_EXECUTABLE = 0o111
_IN_THE_WAY = {errno.ENOTDIR, errno.ELOOP}


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file or a link as git records it.

    `mode`: 100644, 100755 for what can be executed, 120000 for a link. `hash` is that of the blob;
    the blob of a link is where it leads.
    """

    mode: str
    hash: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_executable(self) -> bool:
        return self.mode == "100755"


class NotPutBack(Exception):
    """It stays as it is; the message says why, in words that end a sentence about the file."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """What `path` shall be, when it is what `now` says or nothing at all. None stands for no file.

    `content` is that of the wanted blob.
    """

    path: bytes
    now: TreeEntry | None
    wanted: TreeEntry | None
    content: bytes = b""


def put_back(root: Path, files: Sequence[Replacement]) -> dict[bytes, str]:
    """Replace files and links of one folder below `root`.

    Missing folders are made, and folders that become empty are removed. Of a file that stays one,
    the rights that git does not record are kept.

    Returns: by path why it stays as it is, in words that end a sentence about the file.
    """
    folders = files[0].path.split(b"/")[:-1]
    try:
        _require_names(folders)
        with _locked_folder(root, folders, create=any(file.wanted for file in files)) as parent:
            # Without the folder nothing is there, and nothing shall be.
            kept = _replace_all(parent, files) if parent is not None else {}
    except (NotPutBack, OSError) as exc:
        return dict.fromkeys((file.path for file in files), _said(exc))
    if any(file.wanted is None for file in files):
        _remove_empty(root, folders)
    return kept


def _replace_all(parent: int, files: Sequence[Replacement]) -> dict[bytes, str]:
    kept = dict[bytes, str]()
    for file in files:
        try:
            _replace(parent, file)
        except (NotPutBack, OSError) as exc:
            kept[file.path] = _said(exc)
    return kept


def _replace(parent: int, file: Replacement) -> None:
    """Raises: NotPutBack; OSError."""
    name = _names(file.path)[-1]
    there, mode = _look(parent, name)
    if there == file.wanted:  # done before, by a worker that died over the next one
        return
    if there is not None and there != file.now:
        raise NotPutBack("somebody has changed it in the meantime")
    if file.wanted is None:
        os.unlink(name, dir_fd=parent)
    elif file.wanted.is_link:
        _place_link(parent, name, file.content)
    else:
        executable = file.wanted.is_executable
        _place_file(parent, name, file.content, executable=executable, present=mode)


def _said(exc: NotPutBack | OSError) -> str:
    return f"it cannot be written ({exc.strerror})" if isinstance(exc, OSError) else str(exc)


def read_entry(root: Path, path: bytes, *, max_bytes: int) -> tuple[TreeEntry, bytes] | None:
    """Read what `path` below `root` is, to put it back later. Blocks.

    Returns: it with its content; None where no file or link is.
    Raises: NotPutBack, also for a file that is larger; OSError.
    """
    *folders, name = _names(path)
    with _locked_folder(root, folders, create=False) as parent:
        info = _status(parent, name)
        if parent is None or info is None or stat.S_ISDIR(info.st_mode):
            return None
        if stat.S_ISLNK(info.st_mode):
            target = os.readlink(name, dir_fd=parent)
            return TreeEntry("120000", _hash_of(target)), target
        if not stat.S_ISREG(info.st_mode):
            raise NotPutBack("a device, a pipe or a socket is in its place")
        with os.fdopen(os.open(name, _FILE, dir_fd=parent), "rb") as file:
            content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise NotPutBack(f"it is over {max_bytes // 1024 // 1024} MB, so it cannot be kept")
    return TreeEntry(_mode_of(info), _hash_of(content)), content


def _status(parent: int | None, name: bytes) -> os.stat_result | None:
    try:
        return None if parent is None else os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _mode_of(info: os.stat_result) -> str:
    return "100755" if info.st_mode & stat.S_IXUSR else "100644"


def _names(path: bytes) -> list[bytes]:
    names = path.split(b"/")
    _require_names(names)
    return names


def _require_names(names: list[bytes]) -> None:
    if any(name in (b"", b".", b"..") or name.lower() == b".git" for name in names):
        raise NotPutBack("its name is not one of a file of the project")


@contextlib.contextmanager
def _locked_folder(root: Path, folders: list[bytes], *, create: bool) -> Iterator[int | None]:
    """Yields the folder, locked as the tools lock it; None when it is not there."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in folders:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=fd)
            try:
                deeper = os.open(name, _FOLDER, dir_fd=fd)
            except FileNotFoundError:
                yield None
                return
            except OSError as exc:
                if exc.errno in _IN_THE_WAY:
                    raise NotPutBack("a file or a link is in the place of its folder") from exc
                raise
            os.close(fd)
            fd = deeper
        _lock(fd)
        yield fd
    finally:
        os.close(fd)


def _lock(folder: int) -> None:
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() > deadline:
                raise NotPutBack("another call is changing it") from exc
            time.sleep(0.02)
        else:
            return


def _look(parent: int, name: bytes) -> tuple[TreeEntry | None, int | None]:
    """Returns: what is there, and the mode bits of a file. Raises: NotPutBack when it is neither.

    An empty folder in its place is removed.
    """
    info = _status(parent, name)
    if info is None:
        return None, None
    if stat.S_ISDIR(info.st_mode):
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as exc:
            raise NotPutBack("a folder with other files is in its place") from exc
        return None, None
    if stat.S_ISLNK(info.st_mode):
        return TreeEntry("120000", _hash_of(os.readlink(name, dir_fd=parent))), None
    if not stat.S_ISREG(info.st_mode):
        raise NotPutBack("a device, a pipe or a socket is in its place")
    return TreeEntry(_mode_of(info), _hash_file(parent, name)), stat.S_IMODE(info.st_mode)


def _hash_of(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _hash_file(parent: int, name: bytes) -> str:
    fd = os.open(name, _FILE, dir_fd=parent)
    with os.fdopen(fd, "rb") as file:
        size = os.fstat(fd).st_size
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _place_file(
    parent: int, name: bytes, content: bytes, *, executable: bool, present: int | None
) -> None:
    temporary = _temporary()
    # Of a new file the server's umask decides about the rest.
    fd = os.open(temporary, _NEW, 0o777 if executable else 0o666, dir_fd=parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            if present is not None:
                os.fchmod(fd, _mode(present, executable=executable))
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        _forget(parent, temporary)
        raise


def _mode(present: int, *, executable: bool) -> int:
    if executable == bool(present & stat.S_IXUSR):
        return present
    # Whoever may read it may execute it.
    return present | (present & 0o444) >> 2 if executable else present & ~_EXECUTABLE


def _place_link(parent: int, name: bytes, content: bytes) -> None:
    temporary = _temporary()
    os.symlink(content, temporary, dir_fd=parent)
    try:
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        _forget(parent, temporary)
        raise


def _temporary() -> bytes:
    return b".%s.tmp" % secrets.token_hex(8).encode()


def _forget(parent: int, temporary: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=parent)


def _remove_empty(root: Path, folders: list[bytes]) -> None:
    """Remove the folders of a removed file that nothing is left in, the deepest first."""
    while folders:
        *above, name = folders
        try:
            with _locked_folder(root, above, create=False) as parent:
                if parent is not None:
                    os.rmdir(name, dir_fd=parent)
        except (NotPutBack, OSError):
            return  # it is not empty, or it is somebody else's matter by now
        folders = above
