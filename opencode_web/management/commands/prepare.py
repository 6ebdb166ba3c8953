from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from opencode_web.checks import TAG
from opencode_web.upkeep import migrate_if_needed


class Command(BaseCommand):
    help = "Migrate the database if needed. Safe to run in several processes at once."
    requires_system_checks = [TAG]

    def handle(self, *args: Any, **options: Any) -> None:
        done = migrate_if_needed()
        self.stdout.write("Migrated." if done else "The database is up to date.")
