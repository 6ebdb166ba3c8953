"""Runs inside our server's Django: the rows that a benchmark needs, made by the actions."""

from __future__ import annotations

import json

from bench.api import Json
from opencode_web.first_run import create_installation
from sessions.access import ProjectAccess
from sessions.actions.projects import create_project_from_folder
from sessions.actions.settings import update_project_settings
from teams.access import access_team
from teams.actions.tokens import create_token
from teams.auth import authenticate_user
from teams.models import Scope, Team, User


def installation(*, email: str, password: str) -> None:
    """Make an owner with a team, and print a token."""
    made = create_installation(
        name="Bench", email=email, password=password, team_name="Bench", only_first=True
    )
    _, secret = create_token(made.user, team=made.team, name="bench", scope=Scope.ADMIN)
    print(json.dumps({"token": secret}))


def projects(*, directories: list[str], config: Json) -> None:
    """Make a project of each folder, with the same settings."""
    user = User.objects.get()
    access = access_team(user, Team.objects.get().pk)
    for directory in directories:
        project = create_project_from_folder(access, path=directory)
        rights = ProjectAccess(project, access, authenticate_user(user))
        update_project_settings(rights, config)
    print(json.dumps({"projects": len(directories)}))
