"""The files of npm packages on this host: fetched by what was pinned, unpacked, never run here.

They stay as they were published and are not bundled into one file: packages read files that lie
beside their modules, such as WebAssembly, and a bundle has no digest that a registry knows.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.outbound import FetchError, open_page
from tools.errors import ToolError
from tools.plugins.registry import Pinned

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_WHOLE_BYTES = 512 * 1024 * 1024
MAX_FILES = 60_000
_FETCH_S = 300.0
_AT_ONCE = 4
_DRAFT = ".draft-"


@dataclass(frozen=True)
class PackageFolder:
    """A plugin that is the package `name` in the node_modules of a `folder`; `path` stands for it
    in the place of a file's."""

    path: str
    name: str
    folder: Path
    options: JsonValue = None

    def to_json(self) -> JsonObject:
        """Returns: what the host is told."""
        folder = str(self.folder)
        return {"path": self.path, "name": self.name, "folder": folder, "options": self.options}


class _Bounds:
    """What all packages together may still have."""

    def __init__(self) -> None:
        self.files, self.bytes = MAX_FILES, MAX_WHOLE_BYTES

    def take(self, *, files: int = 0, size: int = 0) -> None:
        self.files -= files
        self.bytes -= size
        if self.files < 0 or self.bytes < 0:
            raise ToolError(
                f"The package and what it needs is larger than {MAX_WHOLE_BYTES >> 20} MiB, or "
                f"more than {MAX_FILES} files."
            )


@dataclass(frozen=True)
class _Counted:
    """Reads no more than there may be, however small it was before it was unpacked."""

    file: gzip.GzipFile
    bounds: _Bounds

    def read(self, size: int) -> bytes:
        data = self.file.read(size)
        self.bounds.take(size=len(data))
        return data


async def fetch_packages(pinned: Sequence[Pinned], folder: Path, *, user_agent: str) -> None:
    """Have the packages in a folder; nothing is asked for where it is there already.

    Each file is as it was pinned, whoever sends it. Raises: ToolError.
    """
    if await asyncio.to_thread(folder.is_dir):
        return
    await asyncio.to_thread(folder.parent.mkdir, parents=True, exist_ok=True)
    made = await asyncio.to_thread(tempfile.mkdtemp, prefix=_DRAFT, dir=folder.parent)
    draft, bounds, places = Path(made), _Bounds(), asyncio.Semaphore(_AT_ONCE)

    async def one(package: Pinned) -> None:
        async with places:
            data = await _fetch(package, user_agent)
            await asyncio.to_thread(_unpack, data, draft / package.path, bounds)

    try:
        async with asyncio.TaskGroup() as tasks:
            for package in pinned:
                tasks.create_task(one(package))
        await asyncio.to_thread(_put, draft, folder)
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    finally:
        await asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True)


def _put(draft: Path, folder: Path) -> None:
    draft.chmod(0o755)
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise  # else another has just done the same


async def _fetch(package: Pinned, user_agent: str) -> bytes:
    headers = {"user-agent": user_agent, "accept-encoding": "identity"}
    body = bytearray()
    try:
        async with open_page(package.address, headers=headers, timeout_s=_FETCH_S) as (_, answer):
            if answer.status_code != 200:
                raise FetchError(f"the registry answered {answer.status_code}")
            async for chunk in answer.aiter_raw(64 * 1024):
                body += chunk
                if len(body) > MAX_FILE_BYTES:
                    raise FetchError(f"it is larger than {MAX_FILE_BYTES >> 20} MiB")
    except FetchError as exc:
        raise ToolError(f"{_named(package)} could not be fetched: {exc}.") from exc
    if hashlib.sha512(body).digest() != package.sha512:
        raise ToolError(f"{_named(package)} is not what was pinned: its SHA-512 is another one.")
    return bytes(body)


def _named(package: Pinned) -> str:
    return f"{package.path.rpartition('node_modules/')[2]}@{package.version}"


def _unpack(data: bytes, folder: Path, bounds: _Bounds) -> None:
    """Write the plain files of a package; there are no links, and nothing is run."""
    try:
        with (
            gzip.open(io.BytesIO(data)) as whole,
            tarfile.open(fileobj=cast(Any, _Counted(whole, bounds)), mode="r|") as archive,
        ):
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    bounds.take(files=1)
                    _write(file, folder, member)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as exc:
        raise ToolError("A file of the registry is no package, or cannot be written.") from exc


def _write(file: IO[bytes], folder: Path, member: tarfile.TarInfo) -> None:
    parts = member.name.split("/")[1:]
    if not parts or not all(map(_is_plain, parts)):
        raise ToolError(f"A file of the package has the name {member.name[:200]!r}.")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(file, target)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and "\0" not in part and "\\" not in part
