from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.lib.errors import NotFound
from sessions.actions.rebuild import Unsettled, rebuild_session
from sessions.models import Session
from teams.actions.usage import rebuild_totals


class Command(BaseCommand):
    help = (
        "Rebuild the rows of sessions from their logs and report differences. Sessions that are "
        "not idle are skipped. With --all, the monthly totals of teams are also rebuilt from "
        "their usage. With --check, nothing is written, and a difference is an error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session", nargs="*", help="IDs of sessions.")
        parser.add_argument("--all", action="store_true", help="All sessions of the server.")
        parser.add_argument("--check", action="store_true", help="Only compare, without writing.")

    def handle(self, *args: Any, **options: Any) -> None:
        ids: list[str] = options["session"]
        if bool(ids) == options["all"]:
            raise CommandError("Pass session IDs or --all.")
        if options["all"]:
            ids = list(Session.objects.order_by("created_at", "pk").values_list("pk", flat=True))
        differing = sum(self._rebuild(one, write=not options["check"]) for one in ids)
        if options["all"]:
            wrong = rebuild_totals(write=not options["check"])
            for total in wrong:
                self.stdout.write(str(total))
            differing += len(wrong)
        self.stdout.write(f"{len(ids)} checked, {differing} differed.")
        if differing and options["check"]:
            raise CommandError("Rows differ from the log.")

    def _rebuild(self, session_id: str, *, write: bool) -> bool:
        """Returns: whether anything differed."""
        try:
            differences = rebuild_session(session_id, write=write)
        except NotFound as exc:
            raise CommandError(exc.message) from exc
        except Unsettled:
            self.stdout.write(f"{session_id}: skipped, it is not idle")
            return False
        for difference in differences:
            self.stdout.write(f"{session_id}: {difference}")
        return bool(differences)
