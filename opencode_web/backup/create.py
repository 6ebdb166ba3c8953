"""Make a backup while the server runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from opencode_web.backup.archive import Archive
from opencode_web.backup.databases import Watermark, dump_database
from opencode_web.backup.encryption import KEY_NAME, new_key
from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import Writer
from opencode_web.backup.layout import DATA, WORKTREES, Root, identities, roots
from opencode_web.backup.manifest import FORMAT, Manifest, write_manifest
from opencode_web.lib.crypto import names_of_keys
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.removals import StillRemoving, no_removals
from sessions.models import Backup, Project
from teams.audit import AuditAction, record

Say = Callable[[str], None]
# Packing the snapshots of a large project takes that long.
_WAIT_S = 1800.0
_TOLD_EVERY_S = 10.0
# Newer ones are kept for the console.
_KEPT_ROWS = 100


def create_backup(folder: Path, *, passphrase: str, say: Say) -> Manifest:
    """Write a backup of this host into an empty folder.

    Returns: its manifest, once it is on disk. Raises: BackupError.
    """
    _require_empty(folder)
    recipient = new_key(folder, passphrase) if passphrase else None
    writer = Writer(folder, recipient)
    if recipient:
        writer.add(KEY_NAME)
    try:
        with no_removals(wait_s=_WAIT_S):
            say("Copying the database…")
            watermark = dump_database(writer)
            archives = [_archive(writer, root, folder, say) for root in roots()]
    except StillRemoving as exc:
        raise BackupError(
            "Another backup or a cleanup of files is running on this host: try again later."
        ) from exc
    except OSError as exc:
        raise BackupError(f"The backup cannot be written ({exc.strerror}): {folder}") from exc
    manifest = _manifest(writer, watermark, archives)
    write_manifest(folder, manifest)
    _record(manifest, folder)
    return manifest


def _require_empty(folder: Path) -> None:
    for root in roots():
        if Path(os.path.realpath(folder)).is_relative_to(root.path):
            raise BackupError(
                f"{folder} is inside of {root.path}, which is backed up: choose another folder."
            )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as exc:
        raise BackupError(f"{folder} cannot be used ({exc.strerror}).") from exc
    if not is_empty:
        raise BackupError(f"{folder} is not empty: every backup needs a new folder.")


@dataclass
class _Progress:
    """Says from time to time how far an archive is."""

    name: str
    say: Say
    files: int = 0
    size_bytes: int = 0
    told: float = 0.0

    def __post_init__(self) -> None:
        self.told = time.monotonic()

    def tick(self, size_bytes: int) -> None:
        self.files, self.size_bytes = self.files + 1, self.size_bytes + size_bytes
        if time.monotonic() - self.told > _TOLD_EVERY_S:
            self.told = time.monotonic()
            self.say(f"  {self}")

    def __str__(self) -> str:
        return f"{self.files:,} files, {self.size_bytes / 1e6:,.1f} MB"


def _archive(writer: Writer, root: Root, folder: Path, say: Say) -> Archive:
    say(f"Copying the files of {root.path}…")
    others = [one.path for one in roots() if one != root]
    left_out = identities([*others, folder, Path(settings.STATIC_ROOT)])
    progress = _Progress(root.name, say)
    with writer.file(f"{root.name}.tar") as target:
        archive = Archive(root, target, left_out, progress.tick)
        archive.write()
    say(f"  {progress}")
    return archive


def _manifest(writer: Writer, watermark: Watermark, archives: list[Archive]) -> Manifest:
    paths = {root.name: str(root.path) for root in roots()}
    return Manifest(
        format=FORMAT,
        id=new_id("bkp"),
        app_version=settings.VERSION,
        taken_at=watermark.taken_at,
        host=settings.HOST_NAME,
        data_dir=paths[DATA],
        worktrees_dir=paths[WORKTREES],
        engine=watermark.engine,
        engine_version=watermark.engine_version,
        migrations=watermark.migrations,
        key_fingerprint=names_of_keys()[0],
        encrypted=writer.recipient is not None,
        logs=watermark.logs,
        events=watermark.events,
        files=writer.files,
        changed=sum(archive.changed for archive in archives),
        unreadable=sum(archive.unreadable for archive in archives),
    )


@transaction.atomic
def _record(manifest: Manifest, folder: Path) -> None:
    row = Backup.objects.create(
        id=manifest.id,
        host=manifest.host,
        destination=str(folder),
        taken_at=manifest.taken_at,
        events=manifest.events,
        logs=manifest.logs,
        finished_at=timezone.now(),
        size_bytes=manifest.size_bytes,
        encrypted=manifest.encrypted,
        unreadable=manifest.unreadable,
    )
    record(AuditAction.BACKUP_CREATED, actor=None, team=None, target=row, data=told_of(manifest))
    kept = Backup.objects.order_by("-taken_at").values("pk")[:_KEPT_ROWS]
    Backup.objects.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


def told_of(manifest: Manifest) -> JsonObject:
    """Returns: which backup it is, for the audit log. Of a restore, too."""
    return {
        "backup": manifest.id,
        "host": manifest.host,
        "taken_at": manifest.taken_at.isoformat(),
        "encrypted": manifest.encrypted,
    }


def other_hosts() -> list[str]:
    """Returns: the hosts whose files no backup of this host has."""
    rows = Project.objects.exclude(host=settings.HOST_NAME)
    return sorted(set(rows.values_list("host", flat=True)))
