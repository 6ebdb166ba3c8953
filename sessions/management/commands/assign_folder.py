from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.lib.errors import AppError
from sessions.actions.folders import assign_folder
from sessions.git.project_folders import resolve_brought_folder
from teams.models import Team


class Command(BaseCommand):
    help = (
        "Assign a folder below the worktrees root to a team. Only this team can then add projects "
        "from it; an earlier assignment to another team ends."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", help="The folder, absolute or relative to the worktrees root.")
        parser.add_argument("--team", required=True, help="The slug of the team.")
        parser.add_argument(
            "--reason", default="From the command line", help="Reason for the audit log."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            raise CommandError(f"There is no team named {options['team']}.")
        try:
            folder = resolve_brought_folder(options["path"], for_operator=True)
            assign_folder(folder, team=team, operator=None, reason=options["reason"])
        except AppError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(f"{folder} is assigned to {team.slug}.")
