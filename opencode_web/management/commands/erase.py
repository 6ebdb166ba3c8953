from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.lib.errors import AppError
from sessions.actions.erasure import (
    open_project_erasure,
    request_person_erasure,
    request_team_erasure,
)
from sessions.jobs.erasure import run_erasure
from sessions.models import Project
from sessions.present.pages.erasures import told
from teams.models import Erasure, Team


class Command(BaseCommand):
    help = "Erase a person, a project or a team for good, on this host."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=Erasure.Kind.values)
        parser.add_argument("what", help="an e-mail address, the ID of a project, a team's slug")
        parser.add_argument(
            "--confirm", required=True, help="the address, the project's name or the slug, again"
        )

    def handle(self, *args: Any, kind: str, what: str, confirm: str, **options: Any) -> None:
        try:
            row = _request(kind, what, confirm)
        except AppError as exc:
            raise CommandError(exc.message) from exc
        run_erasure(row.pk)
        row.refresh_from_db()
        # A worker of the server may have been faster.
        while row.state == Erasure.State.RUNNING:
            time.sleep(1)
            row.refresh_from_db()
        if row.state == Erasure.State.FAILED:
            raise CommandError(row.problem)
        if row.state != Erasure.State.DONE:
            raise CommandError("It is done by a worker, once no backup is being made.")
        self.stdout.write("\n".join(told(row)))


def _request(kind: str, what: str, confirm: str) -> Erasure:
    if kind == Erasure.Kind.PERSON:
        return request_person_erasure(None, email=what, confirm=confirm)
    if kind == Erasure.Kind.PROJECT:
        project = Project.objects.select_related("team").filter(pk=what).first()
        if project is None:
            raise CommandError(f"There is no project {what}.")
        return open_project_erasure(project, actor=None, confirm=confirm)
    team = Team.objects.filter(slug=what).first()
    if team is None:
        raise CommandError(f"There is no team {what}.")
    return request_team_erasure(None, team, confirm=confirm)
