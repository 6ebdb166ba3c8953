from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.backup.errors import BackupError
from opencode_web.transfer.export import export_team
from opencode_web.transfer.jobs import record_export
from opencode_web.transfer.load import import_team
from teams.models import Team, User


class Command(BaseCommand):
    help = (
        "Export a team into one archive, or import it on another server. No secret is in it; what "
        "has to be set again is listed. Projects are imported with their rules, agents and files: "
        "import only archives that you trust."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        export = commands.add_parser("export", help="write a team into a new file")
        export.add_argument("slug")
        export.add_argument("file", type=Path)
        load = commands.add_parser("import", help="make a team of an archive")
        load.add_argument("file", type=Path)
        load.add_argument("--owner", required=True, help="e-mail address of who will own it")
        load.add_argument("--slug", default="", help="the team's address, instead of its own")

    def handle(self, *args: Any, command: str, file: Path, **options: Any) -> None:
        try:
            if command == "export":
                self._export(options["slug"], file.absolute())
            else:
                self._import(file.absolute(), options["owner"], options["slug"])
        except BackupError as exc:
            raise CommandError(str(exc)) from exc

    def _export(self, slug: str, file: Path) -> None:
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            raise CommandError(f"There is no team {slug}.")
        record_export(team, target=team, actor=None, key="requested")
        try:
            shape = export_team(team, file, say=self._say)
        except BackupError:
            record_export(team, target=team, actor=None, key="failed")
            raise
        record_export(team, target=team, actor=None)
        if left := [one.name for one in shape.projects if not one.archive]:
            self.stderr.write(f"Files of these projects are not in it: {', '.join(left)}.")
        self._tell_again(shape.again)
        self._say(f"Done: {file}, {file.stat().st_size / 1e6:,.1f} MB.")

    def _import(self, file: Path, email: str, slug: str) -> None:
        owner = User.objects.filter(email__iexact=email, service_of=None, is_active=True).first()
        if owner is None:
            raise CommandError(f"There is no account for {email}. Create it first.")
        made = import_team(file, owner=owner, slug=slug, say=self._say)
        self._tell_again(made.shape.again)
        for line in made.left:
            self._say(f"Left out, {line}")
        if made.unknown:
            verb = "has" if made.unknown == 1 else "have"
            people = _count(made.unknown, "person", "people")
            self._say(f"{people} {verb} no account here and cannot sign in.")
        self._say(
            f"Done: the team {made.team.slug} with {_count(len(made.shape.projects), 'project')}, "
            f"{_count(len(made.shape.sessions), 'session')} and {_count(made.events, 'event')}."
        )

    def _tell_again(self, again: list[str]) -> None:
        if again:
            self._say("Not in the archive, to be set again after the import:")
            for line in again:
                self._say(f"  {line}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
