from __future__ import annotations

from ninja import Body, Router

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import access_principal_team
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, names_place, require_location
from sessions.config import config_data
from sessions.public_config import public_config
from teams.access import TeamAccess
from teams.auth import principal_teams
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["config"])

# Sharing is not offered: clients hide their command for it.
_DEFAULTS: JsonObject = {"share": "disabled"}


@router.get("/config", summary="The settings in force in a project, or of a team")
def get_config(request: ApiRequest, team: str = "") -> JsonObject:
    location = None if team else find_location(request)
    config = config_data(location.project) if location else _team(request, team).team.config
    return {**_DEFAULTS, **public_config(config)}


@router.patch("/config", summary="Change the settings of the named project, else of the team")
def patch_config(request: ApiRequest, patch: Body[JsonObject], team: str = "") -> JsonObject:
    ip = client_ip(request)
    if not team and names_place(request):
        location = require_location(request, need=Role.ADMIN)
        return public_config(update_project_settings(location.access, patch, ip=ip))
    access = _team(request, team, need=Role.ADMIN)
    return public_config(update_team_settings(access, patch, ip=ip))


def _team(request: ApiRequest, named: str, *, need: Role = Role.VIEWER) -> TeamAccess:
    if named:
        return access_principal_team(request.auth, named, need=need)
    teams = principal_teams(request.auth)
    if len(teams) != 1:
        raise Invalid("Name a team or a project by ?team= or ?project=.", kind="Query")
    return access_principal_team(request.auth, teams[0].pk, need=need)
