from __future__ import annotations

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.config.network import KEY
from teams.access import TeamAccess, require_role
from teams.models import Role


def set_team_network(
    access: TeamAccess, network: JsonObject | None, *, ip: str | None = None
) -> JsonObject:
    """Set what commands of a team reach; see `sessions.config.network.NetworkConfig`.

    Returns: the settings of the team.
    Raises: Invalid for a wrong host, or more than the server allows; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    return update_team_settings(access, {KEY: network}, ip=ip)


def set_project_network(
    access: ProjectAccess, network: JsonObject | None, *, ip: str | None = None
) -> JsonObject:
    """Set what commands of one project reach; None leaves it to the team. Else as above."""
    require_role(access.team, Role.ADMIN)
    return update_project_settings(access, {KEY: network}, ip=ip)
