"""Open an archive of a team, whoever has written it."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeVar, cast

from pydantic import BaseModel, ValidationError

from opencode_web.backup.errors import BackupError, DamagedBackup
from opencode_web.backup.files import CHUNK_BYTES, Reader, check_files
from opencode_web.transfer.shapes import (
    EVENTS,
    FORMAT,
    MANIFEST,
    TEAM,
    EventShape,
    TeamManifest,
    TeamShape,
)

_NAME = re.compile(r"(team\.json|events\.jsonl|outputs\.tar|project-\d{1,6}\.tar)\.gz")
_MANIFEST_BYTES = 16 * 1024 * 1024
# Of one event, and of the file that says what the team is.
_LINE_BYTES = 256 * 1024 * 1024
_SPARE_BYTES = 256 * 1024 * 1024


class Bounded(io.RawIOBase):
    """Ends with an error once more comes than was announced: what is packed may be endless."""

    def __init__(self, source: IO[bytes], size_bytes: int) -> None:
        self._source, self._left = source, size_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer)).cast("B")
        data = self._source.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise DamagedBackup("The archive has more in it than it says.")
        view[: len(data)] = data
        return len(data)


def open_archive(path: Path, into: Path) -> Reader:
    """Unpack the outer archive into an empty folder, and check every file in it.

    Raises: BackupError for what is no archive of a team; DamagedBackup for what was changed.
    """
    try:
        with tarfile.open(path, "r:") as tar:
            first = tar.next()
            if first is None or first.name != MANIFEST or not first.isreg():
                raise BackupError(f"{path} is not an archive of a team.")
            manifest = _manifest(tar, first)
            _require_room(manifest, into)
            sizes = {file.name: file.size_bytes for file in manifest.files}
            for info in tar:
                if info is not first:
                    _unpack_one(tar, info, sizes, into)
    except tarfile.TarError as exc:
        raise BackupError(f"{path} is not an archive of a team ({exc}).") from exc
    except OSError as exc:
        raise BackupError(f"{path} cannot be read ({exc.strerror}).") from exc
    check_files(into, manifest)
    return Reader(into, manifest, None)


def _manifest(tar: tarfile.TarFile, info: tarfile.TarInfo) -> TeamManifest:
    file = tar.extractfile(info)
    assert file is not None
    if info.size > _MANIFEST_BYTES:
        raise DamagedBackup("The manifest is too long.")
    text = file.read()
    raw = _json(text)
    found = raw.get("format") if isinstance(raw, dict) else None
    if isinstance(found, int) and found > FORMAT:
        raise BackupError(
            f"The archive has format {found}, and this version reads up to {FORMAT}. Import it "
            "with a newer version of OpenCode Web."
        )
    manifest = _parsed(TeamManifest, text)
    names = [one.name for one in manifest.files]
    if len(set(names)) != len(names) or not all(map(_NAME.fullmatch, names)):
        raise DamagedBackup("The manifest names a file that no archive of a team has.")
    if any(one.size_bytes < 0 or one.content_bytes < 0 for one in manifest.files):
        raise DamagedBackup("The manifest has a size below zero.")
    return manifest


def _require_room(manifest: TeamManifest, into: Path) -> None:
    wanted = sum(one.size_bytes + one.content_bytes for one in manifest.files) + _SPARE_BYTES
    free = shutil.disk_usage(into).free
    if free < wanted:
        raise BackupError(
            f"The archive takes {wanted / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free on the "
            "disk of the worktrees: free some space first."
        )


def _unpack_one(
    tar: tarfile.TarFile, info: tarfile.TarInfo, sizes: dict[str, int], into: Path
) -> None:
    if not info.isreg() or info.name not in sizes or (into / info.name).exists():
        raise DamagedBackup(f"The archive has {info.name!r}, which its manifest does not list.")
    if info.size != sizes[info.name]:
        raise DamagedBackup(f"{info.name!r} is not as long as it was. Use another copy.")
    file = tar.extractfile(info)
    assert file is not None
    with (into / info.name).open("xb") as target:
        shutil.copyfileobj(file, target, CHUNK_BYTES)


def read_team(reader: Reader) -> TeamShape:
    """Raises: DamagedBackup."""
    with reader.file(TEAM) as content:
        text = Bounded(content, min(_LINE_BYTES, _size(reader, TEAM))).read()
    return _parsed(TeamShape, text or b"")


def read_events(reader: Reader) -> Iterator[EventShape]:
    """Yields: the events in their order. Raises: DamagedBackup."""
    with reader.file(EVENTS) as content:
        bounded = io.BufferedReader(Bounded(content, _size(reader, EVENTS)))
        while line := bounded.readline(_LINE_BYTES):
            yield _parsed(EventShape, line)


def content_of(reader: Reader, content: IO[bytes], name: str) -> IO[bytes]:
    """Returns: the content of a file, which ends where the manifest says."""
    return cast("IO[bytes]", io.BufferedReader(Bounded(content, _size(reader, name))))


def _size(reader: Reader, name: str) -> int:
    return next(one.content_bytes for one in reader.manifest.files if one.name == f"{name}.gz")


def _json(text: bytes) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise DamagedBackup("The archive is damaged: a part of it is no JSON.") from exc
    return found


Model = TypeVar("Model", bound=BaseModel)


def _parsed(model: type[Model], text: bytes) -> Model:
    try:
        return model.model_validate_json(text)
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise DamagedBackup(f"The archive is damaged: {place}: {first['msg']}") from exc
