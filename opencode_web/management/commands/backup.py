from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from opencode_web.backup.create import create_backup, other_hosts
from opencode_web.backup.errors import BackupError
from opencode_web.backup.verify import verify_backup


class Command(BaseCommand):
    help = (
        "Back up the database and the files of this host into a new folder, while the server runs. "
        "SECRET_KEY is not in it: keep it elsewhere. With --verify, check a backup instead."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="A new or empty folder.")
        parser.add_argument(
            "--verify",
            action="store_true",
            help="Only check a backup: its files, and its passphrase if given.",
        )
        add_passphrase(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        folder, passphrase = options["folder"].absolute(), read_passphrase(options)
        try:
            if options["verify"]:
                self._verify(folder, passphrase)
                return
            manifest = create_backup(folder, passphrase=passphrase, say=self._say)
        except BackupError as exc:
            raise CommandError(str(exc)) from exc
        if manifest.changed:
            self.stdout.write(f"{manifest.changed} files changed while they were copied.")
        if manifest.unreadable:
            self.stderr.write(f"{manifest.unreadable} files cannot be read and are not in it.")
        if hosts := other_hosts():
            self.stderr.write(f"Files of other hosts are not in it: {', '.join(hosts)}.")
        self.stdout.write(
            f"Done: {manifest.size_bytes / 1e6:,.1f} MB, {manifest.logs:,} event logs with "
            f"{manifest.events:,} events as of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC."
        )

    def _verify(self, folder: Path, passphrase: str) -> None:
        manifest = verify_backup(folder, passphrase)
        self._say(f"The backup of {manifest.taken_at:%Y-%m-%d %H:%M} UTC is intact.")
        if manifest.encrypted and not passphrase:
            self._say("Pass its passphrase to check this, too.")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def add_passphrase(parser: ArgumentParser) -> None:
    """Of `restore`, too."""
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        help="A file with the passphrase that encrypts the backup, in place of BACKUP_PASSPHRASE.",
    )


def read_passphrase(options: dict[str, Any]) -> str:
    """Raises: CommandError."""
    path = options["passphrase_file"]
    if path is None:
        return str(settings.BACKUP_PASSPHRASE)
    try:
        text: str = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise CommandError(f"{path} cannot be read: {exc}") from exc
    if not text:
        raise CommandError(f"{path} is empty.")
    return text
