"""What a backup says about itself, in `manifest.json`. A backup without one was interrupted."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from opencode_web.backup.errors import BackupError, DamagedBackup

NAME = "manifest.json"
# Rises when an older restore could not read what is written.
FORMAT = 1

Engine = Literal["sqlite", "postgresql"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class StoredFile(_Frozen):
    """A file of the backup. `content_bytes`: before it was compressed and encrypted."""

    name: str
    size_bytes: int
    sha256: str
    content_bytes: int


class Manifest(_Frozen):
    """Made by `create`, and the last file of a backup."""

    format: int
    id: str
    app_version: str
    # The watermark: the moment that the database was copied at.
    taken_at: datetime
    host: str
    # Rows and repositories name files by these paths.
    data_dir: str
    worktrees_dir: str
    engine: Engine
    # Of the database server; of SQLite's library.
    engine_version: int
    # Applied, by app.
    migrations: dict[str, list[str]]
    key_fingerprint: str
    encrypted: bool
    # How many event logs there are, and events in them. The newest event of each is in a file.
    logs: int
    events: int
    files: list[StoredFile]
    # Of files: grown or shrunk while they were copied, and left out because they cannot be read.
    changed: int = 0
    unreadable: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it so that it is there as a whole or not at all, after everything else is on disk."""
    draft = folder / f"{NAME}.draft"
    with draft.open("x", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=1))
        file.flush()
        os.fsync(file.fileno())
    draft.rename(folder / NAME)
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_manifest(folder: Path) -> Manifest:
    """Raises: BackupError, DamagedBackup."""
    try:
        text = (folder / NAME).read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        why = "is not a backup" if not folder.is_dir() else "has no manifest"
        raise DamagedBackup(
            f"{folder} {why}. A backup that was interrupted has none: use another one."
        ) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise DamagedBackup(f"{folder / NAME} cannot be read ({exc}).") from exc
    _require_known_format(text)
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as exc:
        raise DamagedBackup(f"{folder / NAME} is damaged. Use another backup.") from exc


def _require_known_format(text: str) -> None:
    # Before anything else is read: a newer one may have other fields.
    try:
        raw = json.loads(text)
    except ValueError as exc:
        raise DamagedBackup("The manifest is damaged. Use another backup.") from exc
    found = raw.get("format") if isinstance(raw, dict) else None
    if isinstance(found, int) and found > FORMAT:
        raise BackupError(
            f"The backup has format {found}, and this version reads up to {FORMAT}. Restore it "
            f"with OpenCode Web {raw.get('app_version', 'in a newer version')} or newer."
        )
