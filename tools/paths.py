"""Reach files beneath the worktree, and nothing else.

Paths are hostile: a model wrote them, and a command in the sandbox may swap a folder for a link at
any moment. So a path is used in two steps. `locate` follows links once and refuses what leaves the
root. Every later open walks the link-free path from the root's descriptor, component by component,
and follows no link at all: one that appeared in between fails the call instead of leading it
astray.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tools.errors import ToolError

_LOCK_WAIT_S = 5.0
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe that a command left in the worktree must not hang the server.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Roots(Protocol):
    """Which folders there are for a call; `ToolContext` says what each of them is."""

    @property
    def worktree(self) -> Path: ...
    @property
    def directory(self) -> Path: ...
    @property
    def output_dirs(self) -> Sequence[Path]: ...


@dataclass(frozen=True)
class Located:
    """A path that lies beneath `root`. `real` has no links in it, as seen at `locate`."""

    root: Path
    path: Path
    real: Path
    relative: str
    managed: bool = False

    @property
    def title(self) -> str:
        """The path as people see it: relative to the worktree, absolute for a managed file."""
        return str(self.path) if self.managed else self.relative

    @property
    def patterns(self) -> tuple[str, ...]:
        """What to ask permission for: the name given, and the file it links to if it does."""
        if self.managed:
            return (str(self.real),)
        return tuple(dict.fromkeys((self.relative or ".", self.key)))

    @property
    def key(self) -> str:
        """The one name of what it leads to, from the root and free of links."""
        return self.real.relative_to(self.root).as_posix()

    @property
    def parts(self) -> tuple[str, ...]:
        return self.real.relative_to(self.root).parts

    def child(self, *names: str) -> Located:
        """Name something below a folder, itself without following links."""
        below = "/".join(names)
        relative = f"{self.relative}/{below}" if self.relative else below
        path, real = self.path.joinpath(*names), self.real.joinpath(*names)
        return Located(self.root, path, real, relative, managed=self.managed)


def locate(context: Roots, text: str, *, managed: bool = False) -> Located:
    """Resolve a path of a call. `managed` also admits the Managed Tool Output Files of the session
    and, for a sub-agent, of those it works for.

    Raises: ToolError when the path is not usable or leaves the worktree.
    """
    if not text:
        raise ToolError("The path is empty. Give a path relative to the project folder.")
    if "\0" in text:
        raise ToolError("The path contains a NUL character.")
    path = Path(os.path.normpath(context.directory / text))
    real = Path(os.path.realpath(path))
    roots = [context.worktree, *(context.output_dirs if managed else ())]
    for root in roots:
        real_root = Path(os.path.realpath(root))
        if real.is_relative_to(real_root):
            named = path if path.is_relative_to(root) else real
            base = root if path.is_relative_to(root) else real_root
            relative = named.relative_to(base).as_posix()
            if relative == ".":
                relative = ""
            return Located(real_root, named, real, relative, managed=root is not context.worktree)
    raise ToolError(
        f"{text} lies outside the project folder {context.worktree}. "
        "Tools can only reach files inside it: use a path below that folder."
    )


@contextlib.contextmanager
def open_folder(located: Located) -> Iterator[int]:
    """Open a folder without following links; yields its descriptor.

    Raises: ToolError when a link turned up; FileNotFoundError, NotADirectoryError and other
    OSErrors.
    """
    fd = _open_folder(located, located.parts)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def open_file(located: Located) -> Iterator[int]:
    """Open a regular file for reading without following links; yields its descriptor.

    Raises: ToolError for a link, a device or a pipe; IsADirectoryError, FileNotFoundError, other
    OSErrors.
    """
    if not located.parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(located.path))
    parent = _open_folder(located, located.parts[:-1])
    try:
        fd = _open_step(located, located.parts[-1], _FILE, parent)
    finally:
        os.close(parent)
    try:
        _require_regular(os.fstat(fd), located)
        yield fd
    finally:
        os.close(fd)


def stat_located(located: Located) -> os.stat_result | None:
    """Stat without following links. Returns: None when nothing is there."""
    if not located.parts:
        return located.root.stat()
    try:
        parent = _open_folder(located, located.parts[:-1])
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.stat(located.parts[-1], dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    finally:
        os.close(parent)


def read_bytes(located: Located, *, max_bytes: int) -> bytes:
    """Read a whole file.

    Raises: ToolError when it is larger than `max_bytes`; what `open_file` raises.
    """
    with open_file(located) as fd:
        return _read_all(fd, located, max_bytes=max_bytes)


def replace_file(
    located: Located, change: Callable[[bytes | None], bytes], *, max_bytes: int
) -> tuple[bytes | None, bytes]:
    """Change a file under a lock, in one step: readers see the old or the new content.

    `change` gets the present content (None: no such file) and returns the new one. Missing folders
    are made.
    Returns: old and new content.
    Raises: what `change` raises; ToolError when a link turned up or another call holds the lock.
    """
    with hold_folder(located) as folder:
        old, mode = folder.read(located, max_bytes=max_bytes)
        new = change(old)
        if new != old:
            folder.write(located, new, mode=mode)
        return old, new


class HeldFolder:
    """A folder in which no other call changes a file while it is held.

    Its methods take files that lie directly in it. They raise ToolError for what is no regular
    file, and OSErrors.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self, located: Located, *, max_bytes: int) -> tuple[bytes | None, int | None]:
        """Returns: content and mode, None and None where no file is."""
        return _read_entry(self._fd, located.parts[-1], located, max_bytes=max_bytes)

    def write(self, located: Located, data: bytes, *, mode: int | None) -> None:
        """Put a content there in one step. `mode`: of the file; that of a new one when None."""
        _swap_in(self._fd, located.parts[-1], data, mode=mode)

    def remove(self, located: Located) -> None:
        os.unlink(located.parts[-1], dir_fd=self._fd)


@contextlib.contextmanager
def hold_folder(located: Located) -> Iterator[HeldFolder]:
    """Hold the folder of a file, which is made where it is missing.

    Raises: ToolError when a link turned up or another call holds it too long; OSErrors.
    """
    if not located.parts:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(located.path))
    fd = _open_folder(located, located.parts[:-1], create=True)
    try:
        _lock(fd, located)
        yield HeldFolder(fd)
    finally:
        os.close(fd)


def _open_folder(located: Located, parts: tuple[str, ...], *, create: bool = False) -> int:
    fd = os.open(located.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            deeper = _open_step(located, part, _DIRECTORY, fd)
        finally:
            os.close(fd)
        fd = deeper
    return fd


def _open_step(located: Located, name: str, flags: int, parent: int) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as exc:
        # Linux says ELOOP for a link, but ENOTDIR when a folder was wanted.
        if exc.errno in {errno.ELOOP, errno.ENOTDIR} and _is_link(name, parent):
            raise ToolError(
                f"{located.path} changed while being opened: {name} became a link. Try again."
            ) from exc
        if exc.errno == errno.ENXIO:
            raise _not_regular(located) from exc
        raise


def _is_link(name: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _require_regular(status: os.stat_result, located: Located) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(located.path))
    if not stat.S_ISREG(status.st_mode):
        raise _not_regular(located)


def _not_regular(located: Located) -> ToolError:
    return ToolError(f"{located.path} is not a regular file (a device, a pipe or a socket).")


def _read_all(fd: int, located: Located, *, max_bytes: int) -> bytes:
    with os.fdopen(os.dup(fd), "rb") as file:
        # Not by its size from stat: it may grow meanwhile.
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ToolError(f"{located.path} is larger than the {max_bytes} bytes allowed here.")
    return data


def _read_entry(
    parent: int, name: str, located: Located, *, max_bytes: int
) -> tuple[bytes | None, int | None]:
    try:
        fd = _open_step(located, name, _FILE, parent)
    except FileNotFoundError:
        return None, None
    try:
        status = os.fstat(fd)
        _require_regular(status, located)
        return _read_all(fd, located, max_bytes=max_bytes), stat.S_IMODE(status.st_mode)
    finally:
        os.close(fd)


def _swap_in(parent: int, name: str, data: bytes, *, mode: int | None) -> None:
    temporary = f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o666, dir_fd=parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        raise


def _lock(parent: int, located: Located) -> None:
    # flock on the folder: two sessions of one project may edit the same file from two workers. The
    # wait is bounded because a command in the sandbox can take this lock and never let it go.
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(parent, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            if time.monotonic() > deadline:
                raise ToolError(
                    f"{located.path} is being changed by another call. Try again later."
                ) from exc
            time.sleep(0.02)
        else:
            return
