from __future__ import annotations

from ninja import Body, Router

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import access_principal_team
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, require_location
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
    config = config_data(location.project) if location else team_of(request, team).team.config
    return {**_DEFAULTS, **public_config(config)}


@router.patch("/config", summary="Change the settings of a project, or of the team with ?team=")
def patch_config(request: ApiRequest, patch: Body[JsonObject], team: str = "") -> JsonObject:
    ip = client_ip(request)
    if team:
        access = team_of(request, team, need=Role.ADMIN)
        return public_config(update_team_settings(access, patch, ip=ip))
    location = require_location(request, need=Role.ADMIN)
    return public_config(update_project_settings(location.access, patch, ip=ip))


# The name that an older version of the API has for it.
router.add_api_operation(
    "/config",
    ["PUT"],
    patch_config,
    summary="The same as PATCH",
    operation_id="put_config",
)


@router.get("/global/config", summary="The settings of a team, which hold in all its projects")
def get_global_config(request: ApiRequest, team: str = "") -> JsonObject:
    return {**_DEFAULTS, **public_config(team_of(request, team).team.config)}


@router.patch("/global/config", summary="Change the settings of a team")
def patch_global_config(request: ApiRequest, patch: Body[JsonObject], team: str = "") -> JsonObject:
    access = team_of(request, team, need=Role.ADMIN)
    stored = update_team_settings(access, patch, ip=client_ip(request))
    return {**_DEFAULTS, **public_config(stored)}


def team_of(request: ApiRequest, named: str = "", *, need: Role = Role.VIEWER) -> TeamAccess:
    """The named team, else the only one that the caller has.

    Raises: Invalid that names the teams when there are several; NotFound; Forbidden below `need`.
    """
    if named:
        return access_principal_team(request.auth, named, need=need)
    teams = principal_teams(request.auth)
    if len(teams) != 1:
        slugs = ", ".join(team.slug for team in teams) or "none"
        raise Invalid(f"Name a team by ?team=. Yours: {slugs}.", kind="Query")
    return access_principal_team(request.auth, teams[0].pk, need=need)
