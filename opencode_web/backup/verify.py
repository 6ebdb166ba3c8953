"""Check whether a backup is complete and as it was written."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from opencode_web.backup.encryption import open_key
from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import check_files
from opencode_web.backup.manifest import Manifest, read_manifest
from sessions.models import Backup


def verify_backup(folder: Path, passphrase: str = "") -> Manifest:
    """Compare every file with its hash, and note the outcome for the console.

    A passphrase is tried on the key of an encrypted backup. A wrong one says nothing about the
    backup, and is not noted.

    Raises: BackupError, DamagedBackup.
    """
    manifest = read_manifest(folder)
    if manifest.encrypted and passphrase:
        open_key(folder, passphrase)
    problem = ""
    try:
        check_files(folder, manifest)
    except BackupError as exc:
        problem = str(exc)[:500]
        raise
    finally:
        Backup.objects.filter(pk=manifest.id).update(verified_at=timezone.now(), problem=problem)
    return manifest
