"""The files of a backup: compressed, encrypted if wished, and hashed while they are written."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol, cast

from opencode_web.backup.encryption import Identity, Recipient, decrypting, encrypting
from opencode_web.backup.errors import DamagedBackup
from opencode_web.backup.manifest import StoredFile

CHUNK_BYTES = 1 << 20


class _Hashed(io.RawIOBase):
    """Passes on what is written, and hashes it."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        written = bytes(cast("bytes", data))
        self._target.write(written)
        self.sha256.update(written)
        self.size_bytes += len(written)
        return len(written)


@dataclass
class Writer:
    """Writes the files of a new backup into a folder."""

    folder: Path
    recipient: Recipient | None
    files: list[StoredFile] = field(default_factory=list)

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        """Yields: where to write the content of a file, which counts once the block has ended."""
        whole = f"{name}.gz.age" if self.recipient else f"{name}.gz"
        fd = os.open(self.folder / whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as raw:
            hashed = _Hashed(raw)
            with ExitStack() as stack:
                target = cast("IO[bytes]", hashed)
                if self.recipient is not None:
                    target = stack.enter_context(encrypting(target, self.recipient))
                # What is encrypted cannot be compressed any more. The fastest level: as fast as
                # most disks.
                with gzip.GzipFile("", "wb", 1, target, 0) as packed:
                    yield cast("IO[bytes]", packed)
                    content_bytes = packed.tell()
            raw.flush()
            os.fsync(raw.fileno())
        self.files.append(
            StoredFile(
                name=whole,
                size_bytes=hashed.size_bytes,
                sha256=hashed.sha256.hexdigest(),
                content_bytes=content_bytes,
            )
        )

    def add(self, name: str) -> None:
        """List a file that is there already."""
        data = (self.folder / name).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        self.files.append(
            StoredFile(name=name, size_bytes=len(data), sha256=digest, content_bytes=len(data))
        )


class Listing(Protocol):
    """A manifest: of a backup, or of an archive of a team."""

    @property
    def encrypted(self) -> bool: ...
    @property
    def files(self) -> list[StoredFile]: ...


@dataclass(frozen=True)
class Reader:
    """Reads the files of a backup."""

    folder: Path
    manifest: Listing
    identity: Identity | None = None

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        """Yields: the content of a file. Raises: DamagedBackup."""
        whole = f"{name}.gz.age" if self.manifest.encrypted else f"{name}.gz"
        listed = {file.name: file.content_bytes for file in self.manifest.files}
        if whole not in listed:
            raise DamagedBackup(f"The manifest does not list {whole}.")
        try:
            with ExitStack() as stack:
                source: IO[bytes] = stack.enter_context((self.folder / whole).open("rb"))
                if self.manifest.encrypted:
                    source = stack.enter_context(decrypting(source, self.identity))
                with gzip.GzipFile(fileobj=source, mode="rb") as content:
                    yield cast("IO[bytes]", content)
                    # The checksum is at the end. An archive that is cut has no other mark.
                    while content.read(CHUNK_BYTES):
                        pass
                    if content.tell() != listed[whole]:
                        raise DamagedBackup(f"{whole} is damaged: it is not as long as it was.")
        except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
            raise DamagedBackup(f"{whole} is damaged ({exc}).") from exc


def check_files(folder: Path, manifest: Listing) -> None:
    """Compare every file with its hash. Raises: DamagedBackup naming the first that differs."""
    for file in manifest.files:
        if file.name != Path(file.name).name:
            raise DamagedBackup(f"The manifest names {file.name!r}, which is no file of a backup.")
        path = folder / file.name
        try:
            if path.is_symlink() or path.stat().st_size != file.size_bytes:
                raise DamagedBackup(f"{file.name} is not as long as it was. Use another copy.")
            with path.open("rb") as opened:
                found = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as exc:
            raise DamagedBackup(f"{path} cannot be read ({exc.strerror}).") from exc
        if found != file.sha256:
            raise DamagedBackup(f"{file.name} is damaged: its hash differs. Use another copy.")
