from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from opencode_web.checks import TAG
from opencode_web.preflight import StartError, require_writable
from opencode_web.upkeep import migrate_if_needed


class Command(BaseCommand):
    help = "Migrate the database if needed. Safe to run in several processes at once."
    requires_system_checks = [TAG]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            require_writable(settings.DATA_DIR)
        except StartError as exc:
            raise CommandError(str(exc)) from exc
        done = migrate_if_needed()
        self.stdout.write("Migrated." if done else "The database is up to date.")
