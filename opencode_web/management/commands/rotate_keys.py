from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from opencode_web.key_rotation import rotate_keys
from opencode_web.lib.json import JsonObject
from teams.audit import AuditAction, record


class Command(BaseCommand):
    help = (
        "Encrypt all stored secrets and sign-in sessions under the newest SECRET_KEY, so that "
        "SECRET_KEY_FALLBACKS can be removed. Safe to run again, and while the server runs."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        rotated = unreadable = 0
        for kind in rotate_keys():
            rotated += kind.rotated
            unreadable += len(kind.unreadable)
            if kind.rotated or kind.current or kind.unreadable:
                self.stdout.write(f"{kind.name}: {kind.rotated} rotated, {kind.current} current")
            if kind.unreadable:
                rows = ", ".join(kind.unreadable[:20])
                self.stderr.write(f"{kind.name}: no key opens {rows}")
        with transaction.atomic():
            told: JsonObject = {"rotated": rotated, "unreadable": unreadable}
            record(AuditAction.KEYS_ROTATED, actor=None, team=None, data=told)
        if unreadable:
            raise CommandError(
                f"{unreadable} secrets cannot be read with any key. Add the key that they were "
                "encrypted with to SECRET_KEY_FALLBACKS, or enter them again."
            )
        self.stdout.write(f"Done: {rotated} rotated.")
        if settings.SECRET_KEY_FALLBACKS:
            self.stdout.write(
                "If every process has been restarted with the new key, remove "
                "SECRET_KEY_FALLBACKS and restart them."
            )
