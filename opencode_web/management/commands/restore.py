from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.backup.errors import BackupError
from opencode_web.backup.restore import Wishes, restore_backup
from opencode_web.management.commands.backup import add_passphrase, read_passphrase


class Command(BaseCommand):
    help = (
        "Restore a backup on this host, whose server must be stopped. Restore only backups that "
        "you trust: the database of a backup can run commands as the database user."
    )
    # The database may not have any tables yet, and an unfinished restore is an error of the checks.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="A folder that `backup` has written.")
        parser.add_argument(
            "--force", action="store_true", help="Replace an installation that is not empty."
        )
        parser.add_argument(
            "--lost-key",
            action="store_true",
            help="Restore without the SECRET_KEY of the backup. Stored keys cannot be read then.",
        )
        add_passphrase(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        wishes = Wishes(read_passphrase(options), options["force"], options["lost_key"])
        try:
            manifest = restore_backup(options["folder"].absolute(), wishes=wishes, say=self._say)
        except BackupError as exc:
            raise CommandError(str(exc)) from exc
        except OSError as exc:
            raise CommandError(f"The backup cannot be restored: {exc}") from exc
        self._say(
            f"Done: {manifest.logs:,} event logs with {manifest.events:,} events as of "
            f"{manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC. Run `manage.py migrate`, then start the "
            "server."
        )

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
