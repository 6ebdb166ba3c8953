"""Encrypt the files of a backup in the age format, which other programs read too.

Files are encrypted to a key pair of the backup alone. Its private half is in `key.age`, encrypted
with the passphrase, as age's own identity files are: `age --decrypt -i key.age FILE` works.
Source: https://age-encryption.org/v1
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyrage

from opencode_web.backup.errors import BackupError, DamagedBackup

KEY_NAME = "key.age"
MIN_PASSPHRASE_CHARS = 12
_TOO_SLOW = "Excessive work"
_MEASURES = 20

# pyrage has no types.
Recipient = Any
Identity = Any


def new_key(folder: Path, passphrase: str) -> Recipient:
    """Make a key for one backup and keep it there. Returns: whom to encrypt to.

    Raises: BackupError.
    """
    if len(passphrase) < MIN_PASSPHRASE_CHARS:
        raise BackupError(
            f"The passphrase has fewer than {MIN_PASSPHRASE_CHARS} characters: use a longer one."
        )
    identity = pyrage.x25519.Identity.generate()
    sealed = pyrage.passphrase.encrypt(f"{identity}\n".encode(), passphrase)
    (folder / KEY_NAME).write_bytes(sealed)
    return identity.to_public()


def open_key(folder: Path, passphrase: str) -> Identity:
    """Raises: BackupError."""
    if not passphrase:
        raise BackupError(
            "The backup is encrypted: pass --passphrase-file, or set BACKUP_PASSPHRASE."
        )
    try:
        text = _open(folder / KEY_NAME, passphrase)
        return pyrage.x25519.Identity.from_str(text.decode().strip())
    except (pyrage.DecryptError, pyrage.IdentityError, UnicodeDecodeError) as exc:
        if _TOO_SLOW in str(exc):
            raise BackupError(
                "This host is too slow or too busy to open the key of this backup. Try again when "
                "less runs on it."
            ) from exc
        raise BackupError("The passphrase is not the one of this backup.") from exc
    except OSError as exc:
        raise DamagedBackup(f"{KEY_NAME} cannot be read ({exc.strerror}).") from exc


def _open(key: Path, passphrase: str) -> bytes:
    """pyrage measures for some milliseconds how fast this host is, and refuses what would take it
    16 s: wrongly where something else ran at that moment, so it is asked again."""
    sealed = key.read_bytes()
    for _ in range(_MEASURES - 1):
        try:
            return bytes(pyrage.passphrase.decrypt(sealed, passphrase))
        except pyrage.DecryptError as exc:
            if _TOO_SLOW not in str(exc):
                raise
    return bytes(pyrage.passphrase.decrypt(sealed, passphrase))


@contextmanager
def encrypting(target: IO[bytes], recipient: Recipient) -> Iterator[IO[bytes]]:
    """Yields: where to write what is to arrive encrypted in `target`."""
    read_fd, write_fd = os.pipe()

    def work() -> None:
        try:
            with os.fdopen(read_fd, "rb") as source:
                pyrage.encrypt_io(source, target, [recipient])
        except (pyrage.EncryptError, OSError) as exc:
            raise BackupError(f"The backup cannot be written ({exc}).") from exc

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        with _told(done), os.fdopen(write_fd, "wb") as writer:
            yield writer


@contextmanager
def decrypting(source: IO[bytes], identity: Identity) -> Iterator[IO[bytes]]:
    """Yields: where to read what is encrypted in `source`. Raises: DamagedBackup at its end."""
    read_fd, write_fd = os.pipe()

    def work() -> None:
        with os.fdopen(write_fd, "wb") as target:
            pyrage.decrypt_io(source, target, [identity])

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        try:
            with os.fdopen(read_fd, "rb") as reader:
                yield reader
                # Else the thread would wait for somebody to read the rest.
                _drain(reader)
        finally:
            failure = done.exception()
        if failure is not None:
            raise DamagedBackup("A file of the backup cannot be decrypted.") from failure


@contextmanager
def _told(done: Future[None]) -> Iterator[None]:
    """Raise what ended the thread in place of the broken pipe that it left."""
    try:
        yield
    except (BrokenPipeError, BackupError):
        done.result()
        raise
    done.result()


def _drain(reader: IO[bytes]) -> None:
    read: Callable[[int], bytes] = reader.read
    while read(1 << 20):
        pass
