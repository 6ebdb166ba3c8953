"""What can go wrong with a backup. Each message is a sentence that says what to do."""

from __future__ import annotations


class BackupError(Exception):
    """A backup or a restore cannot be done."""


class DamagedBackup(BackupError):
    """The backup is incomplete, or not what was written."""
