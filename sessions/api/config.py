from __future__ import annotations

from urllib.parse import quote

from django.http import HttpResponse
from ninja import Body, Router
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import access_principal_team
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, require_location
from sessions.config.effective import effective_data, project_config, team_data
from sessions.config.known_keys import join_keys, split_unknown
from sessions.config.public import public_config
from sessions.repository.brought import BroughtKind
from sessions.repository.settings import read_repository_settings
from sessions.shares.policy import share_mode, team_share_mode
from teams.access import TeamAccess, has_role
from teams.auth import principal_teams
from teams.http import client_ip
from teams.models import Role, Team

router = Router(tags=["config"])


class IgnoredSetting(TypedDict):
    key: str
    path: str
    reason: str


class BrokenFile(TypedDict):
    path: str
    reason: str


class RepositoryConfig(TypedDict):
    files: list[str]
    isTrusted: bool
    ignored: list[IgnoredSetting]
    problems: list[BrokenFile]


@router.get("/config", summary="The settings in force in a project, or of a team")
def get_config(request: ApiRequest, team: str = "") -> JsonObject:
    """Those of this server, over them the team's, the project's and, as far as they count, those of
    the repository as it is in the directory; values that can be secret are masked."""
    location = None if team else find_location(request)
    if location is None:
        return _of_team(team_of(request, team).team)
    data = effective_data(location.project, location.folder)
    return {**_shown(data), "share": share_mode(location.project)}


@router.get("/config/repository", summary="What the repository's own settings say that is ignored")
def get_repository_config(request: ApiRequest) -> RepositoryConfig:
    """`isTrusted` is whether an admin has trusted exactly the files that are there now."""
    location = require_location(request)
    config = project_config(location.project, location.folder)
    found = read_repository_settings(config.brought)
    return {
        "files": [file.path for file in config.brought.of(BroughtKind.SETTINGS)],
        "isTrusted": config.brought.is_trusted,
        "ignored": [
            {"key": one.key, "path": one.path, "reason": one.reason} for one in config.ignored
        ],
        "problems": [{"path": one.path, "reason": one.reason} for one in found.problems],
    }


@router.patch("/config", summary="Change the settings of a project, or of the team with ?team=")
def patch_config(
    request: ApiRequest, response: HttpResponse, patch: Body[JsonObject], team: str = ""
) -> JsonObject:
    """Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`."""
    _name_unknown(response, patch)
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
    return _of_team(team_of(request, team).team)


@router.patch("/global/config", summary="Change the settings of a team")
def patch_global_config(
    request: ApiRequest, response: HttpResponse, patch: Body[JsonObject], team: str = ""
) -> JsonObject:
    """Keys that nobody knows are left out, and named in the header `X-Unknown-Keys`."""
    _name_unknown(response, patch)
    access = team_of(request, team, need=Role.ADMIN)
    update_team_settings(access, patch, ip=client_ip(request))
    access.team.refresh_from_db(fields=["config"])
    return _of_team(access.team)


def _of_team(team: Team) -> JsonObject:
    # With what is in force: clients hide their command for it where it is disabled.
    return {**_shown(team_data(team)), "share": team_share_mode(team)}


def _shown(data: JsonObject) -> JsonObject:
    """Returns: settings as clients read them, without keys that an older version has stored."""
    return public_config(split_unknown(data)[0])


def _name_unknown(response: HttpResponse, patch: JsonObject) -> None:
    if unknown := split_unknown(patch)[1]:
        response["X-Unknown-Keys"] = quote(join_keys(unknown), safe=" ,.$")


def team_of(request: ApiRequest, named: str = "", *, need: Role | None = Role.VIEWER) -> TeamAccess:
    """The named team, else the only one that the caller has. `need` is None for any role.

    Raises: Invalid that names the teams when there are several; NotFound; Forbidden below `need`.
    """
    if named:
        return access_principal_team(request.auth, named, need=need)
    of_work = need is not None and has_role(need, Role.VIEWER)
    teams = principal_teams(request.auth, need=Role.VIEWER if of_work else None)
    if len(teams) != 1:
        slugs = ", ".join(team.slug for team in teams) or "none"
        raise Invalid(f"Choose a team with ?team=. Your teams: {slugs}.", kind="Query")
    return access_principal_team(request.auth, teams[0].pk, need=need)
