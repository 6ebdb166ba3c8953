"""Check whether a backup is complete and as it was written."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import check_files
from opencode_web.backup.manifest import Manifest, read_manifest
from sessions.models import Backup


def verify_backup(folder: Path) -> Manifest:
    """Compare every file with its hash, and note the outcome for the console.

    Raises: BackupError, DamagedBackup.
    """
    manifest = read_manifest(folder)
    problem = ""
    try:
        check_files(folder, manifest)
    except BackupError as exc:
        problem = str(exc)[:500]
        raise
    finally:
        Backup.objects.filter(pk=manifest.id).update(verified_at=timezone.now(), problem=problem)
    return manifest
