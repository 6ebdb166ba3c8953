"""Runs inside our server's Django: the rows that a benchmark needs, made by the actions."""

from __future__ import annotations

import json

from opencode_web.first_run import create_installation
from sessions.access import ProjectAccess
from sessions.actions.projects import create_project_from_folder
from sessions.actions.settings import update_project_settings
from teams.access import access_team
from teams.actions.tokens import create_token
from teams.auth import authenticate_user
from teams.models import Scope


def seed(given: str) -> None:
    """Make an owner, a project on a folder with settings, and print a token."""
    wanted = json.loads(given)
    made = create_installation(
        name="Bench",
        email=wanted["email"],
        password=wanted["password"],
        team_name="Bench",
        only_first=True,
    )
    access = access_team(made.user, made.team.pk)
    project = create_project_from_folder(access, path=wanted["directory"])
    rights = ProjectAccess(project, access, authenticate_user(made.user))
    update_project_settings(rights, wanted["config"])
    _, secret = create_token(made.user, team=made.team, name="bench", scope=Scope.ADMIN)
    print(json.dumps({"token": secret}))
