"""Unpack an archive into an empty folder, whoever has written the archive.

Links are made last, so that no file is ever written through one. A name that leads out of the
folder, anything but files, folders and links, and whatever belongs to this host alone ends it.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from typing import IO

from opencode_web.backup.errors import DamagedBackup
from opencode_web.backup.files import CHUNK_BYTES
from opencode_web.backup.layout import Root

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def unpack(source: IO[bytes], root: Root, into: Path) -> int:
    """Unpack what was archived as `root`. Returns: how many files. Raises: DamagedBackup."""
    folders, links = dict[str, tarfile.TarInfo](), dict[str, str]()
    files = 0
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:
            for info in tar:
                path = _checked(info, root, folders)
                if info.isdir():
                    (into / path).mkdir(mode=0o700)
                    folders[path] = info
                elif info.issym():
                    links[path] = info.linkname
                else:
                    _write(tar, info, into / path)
                    files += 1
        for path, linked in links.items():
            os.symlink(linked, into / path)  # noqa: PTH211  not to normalise what it leads to
    except (tarfile.TarError, FileExistsError) as exc:
        raise DamagedBackup(f"The archive of {root.name} is damaged ({exc}).") from exc
    # The deepest first: a folder may be closed to its owner, and a new entry changes its time.
    for path, info in reversed(folders.items()):
        (into / path).chmod(info.mode & 0o777)
        os.utime(into / path, (info.mtime, info.mtime))
    return files


def _checked(info: tarfile.TarInfo, root: Root, folders: dict[str, tarfile.TarInfo]) -> str:
    path = info.name.rstrip("/")
    above, slash, name = path.rpartition("/")
    # A name that begins with a slash has nothing above it, and leads out.
    if name in {"", ".", ".."} or "\0" in path or (slash and above not in folders):
        raise DamagedBackup(f"The archive of {root.name} has a bad name: {info.name!r}.")
    if not above and root.is_kept(name):
        raise DamagedBackup(f"The archive of {root.name} has {name!r}, which no backup has.")
    if not (info.isdir() or info.isreg() or (info.issym() and root.allows_link(path))):
        raise DamagedBackup(f"The archive of {root.name} has an unexpected link: {info.name!r}.")
    # Nothing of ours is written so, and a few bytes could fill the disk.
    if info.issparse():
        raise DamagedBackup(f"The archive of {root.name} has a sparse file: {info.name!r}.")
    return path


def _write(tar: tarfile.TarFile, info: tarfile.TarInfo, path: Path) -> None:
    content = tar.extractfile(info)
    assert content is not None
    with os.fdopen(os.open(path, _NEW, info.mode & 0o777 | 0o200), "wb") as file:
        left = info.size
        while left:
            data = content.read(min(left, CHUNK_BYTES))
            if not data:
                raise tarfile.ReadError("it ends early")
            file.write(data)
            left -= len(data)
    path.chmod(info.mode & 0o777)
    os.utime(path, (info.mtime, info.mtime))
