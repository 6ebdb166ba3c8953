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
        "Make the rows of sessions again from their logs, and say what differed. A session that "
        "works is passed over. With --all also the monthly totals of what teams have spent, from "
        "their usage. With --check nothing is written, and a difference is a failure."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session", nargs="*", help="Ids of sessions.")
        parser.add_argument("--all", action="store_true", help="Every session of the server.")
        parser.add_argument("--check", action="store_true", help="Only compare.")

    def handle(self, *args: Any, **options: Any) -> None:
        ids: list[str] = options["session"]
        if bool(ids) == options["all"]:
            raise CommandError("Name sessions, or all of them by --all.")
        if options["all"]:
            ids = list(Session.objects.order_by("created_at", "pk").values_list("pk", flat=True))
        differing = sum(self._rebuild(one, write=not options["check"]) for one in ids)
        if options["all"]:
            wrong = rebuild_totals(write=not options["check"])
            for total in wrong:
                self.stdout.write(str(total))
            differing += len(wrong)
        self.stdout.write(f"{len(ids)} looked at, {differing} differed.")
        if differing and options["check"]:
            raise CommandError("Rows differ from the log.")

    def _rebuild(self, session_id: str, *, write: bool) -> bool:
        """Returns: whether anything differed."""
        try:
            differences = rebuild_session(session_id, write=write)
        except NotFound as exc:
            raise CommandError(exc.message) from exc
        except Unsettled:
            self.stdout.write(f"{session_id}: passed over, it is not idle")
            return False
        for difference in differences:
            self.stdout.write(f"{session_id}: {difference}")
        return bool(differences)
