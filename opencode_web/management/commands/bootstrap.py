from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from opencode_web.checks import TAG
from opencode_web.first_run import Installation, create_installation, create_workspace
from opencode_web.lib.errors import AppError
from opencode_web.setup_key import remove_setup_key
from opencode_web.upkeep import migrate_if_needed
from sessions.models import Project
from teams.actions.tokens import create_token
from teams.models import Membership, Role, Scope, Team, User

TOKEN_NAME = "bootstrap"  # noqa: S105 - the name people see, no secret


class Command(BaseCommand):
    help = (
        "Create the owner, a team, a sample project and an admin token without a browser. Running "
        "it again with the same e-mail creates nothing twice; --new-token creates another token."
    )
    requires_system_checks = [TAG]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument(
            "--password", default="", help="Password. Use - to enter it or read it from stdin."
        )
        parser.add_argument("--name", default="", help="Name of the owner.")
        parser.add_argument("--team", default="My team", help="Name of the team.")
        parser.add_argument(
            "--directory",
            default="",
            help="Git repository below the worktrees root to use in place of the sample project.",
        )
        parser.add_argument("--new-token", action="store_true", help="Create another admin token.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        migrate_if_needed()
        try:
            made, is_new = self._ensure(options)
            secret = None
            if is_new or options["new_token"]:
                _, secret = create_token(
                    made.user, team=made.team, name=TOKEN_NAME, scope=Scope.ADMIN
                )
        except AppError as exc:
            raise CommandError(exc.message) from exc
        remove_setup_key()
        self._print(made, secret, as_json=options["json"])

    def _ensure(self, options: dict[str, Any]) -> tuple[Installation, bool]:
        email: str = options["email"].strip().lower()
        user = User.objects.filter(email__iexact=email).first()
        if user is not None:
            known = _find_workspace(user, options["team"])
            if known is not None:
                return known, False
            # A team of that name that has lost its projects is filled, not made twice.
            empty = Team.objects.filter(
                memberships__user=user, memberships__role=Role.OWNER, name=options["team"]
            ).first()
            made = create_workspace(
                user, team_name=options["team"], team=empty, folder=options["directory"]
            )
            return made, True
        password = options["password"]
        if password == "-":  # noqa: S105 - the sign for stdin
            password = _read_password()
        if not password:
            raise CommandError("A new owner needs --password.")
        made = create_installation(
            name=options["name"] or email.partition("@")[0],
            email=email,
            password=password,
            team_name=options["team"],
            only_first=False,
            folder=options["directory"],
        )
        return made, True

    def _print(self, made: Installation, secret: str | None, *, as_json: bool) -> None:
        facts = {
            "user": made.user.pk,
            "email": made.user.email,
            "team": made.team.pk,
            "team_slug": made.team.slug,
            "project": made.project.pk,
            "directory": made.project.directory,
            "token": secret,
        }
        if as_json:
            self.stdout.write(json.dumps(facts))
            return
        for name, value in facts.items():
            self.stdout.write(f"{name:<10} {value if value is not None else '(kept, --new-token)'}")


def _read_password() -> str:
    # On a terminal it must neither be seen nor stay in the scrollback.
    if sys.stdin.isatty():
        return getpass("Password of the new owner: ")
    return sys.stdin.readline().rstrip("\n")


def _find_workspace(user: User, team_name: str) -> Installation | None:
    """A team that the person owns, the one of that name first, with its oldest project."""
    owned = Membership.objects.filter(user=user, role=Role.OWNER).select_related("team")
    for row in sorted(owned, key=lambda row: (row.team.name != team_name, row.pk)):
        project = Project.objects.filter(team=row.team).order_by("created_at", "pk").first()
        if project is not None:
            return Installation(user, row.team, project)
    return None
