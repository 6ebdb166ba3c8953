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
        "Let a team, and no other, add projects from a folder of this host below the worktrees "
        "root. This also takes the folder from the team that had it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", help="The folder, absolute or below the worktrees root.")
        parser.add_argument("--team", required=True, help="The slug of the team.")
        parser.add_argument(
            "--reason", default="From the command line", help="For the audit trail."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            raise CommandError(f"There is no team {options['team']}.")
        try:
            folder = resolve_brought_folder(options["path"])
            assign_folder(folder, team=team, operator=None, reason=options["reason"])
        except AppError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(f"{folder} belongs to {team.slug}.")
