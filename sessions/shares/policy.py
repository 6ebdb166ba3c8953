"""Who may be given links to sessions: the least of what server, team and project allow."""

from __future__ import annotations

import logging

from django.conf import settings
from pydantic import ValidationError

from opencode_web.lib.json import JsonValue
from sessions.config.effective import config_data, team_data
from sessions.config.sharing import KEY, MODE, Links, Mode, SharingConfig
from sessions.models import Project
from teams.models import Team

logger = logging.getLogger(__name__)


def most_links() -> Links:
    """What the operator lets any team have."""
    return Links.PUBLIC if settings.PUBLIC_SHARES else Links.TEAM


def team_links(team: Team) -> Links:
    """What is in force in a team. What cannot be read allows nothing."""
    try:
        links = SharingConfig.model_validate(team_data(team).get(KEY) or {}).links
    except ValidationError:
        logger.warning("the sharing settings of team %s cannot be read: none is allowed", team.pk)
        return Links.NONE
    return links if links is not Links.PUBLIC else most_links()


def project_links(project: Project) -> Links:
    """What is in force in a project, whose team is loaded."""
    return Links.NONE if _chosen(project) == "disabled" else team_links(project.team)


def share_mode(project: Project) -> Mode:
    """Returns: `share` as clients are told of it; `auto` shares every new session with the team."""
    return _mode(project.team, _chosen(project))


def team_share_mode(team: Team) -> Mode:
    """Returns: what `share_mode` is in projects that say nothing of it."""
    return _mode(team, team_data(team).get(MODE))


def _chosen(project: Project) -> JsonValue:
    return config_data(project).get(MODE)


def _mode(team: Team, chosen: JsonValue) -> Mode:
    if chosen == "disabled" or team_links(team) is Links.NONE:
        return "disabled"
    return "auto" if chosen == "auto" else "manual"
