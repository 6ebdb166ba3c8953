"""What a person has signed in to at MCP servers, and what they have to do again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from sessions.config.effective import config_data
from sessions.mcp.grants import ending_sign_ins
from sessions.mcp.servers import servers_in
from sessions.models import McpSignIn
from sessions.present.projects import project_url
from sessions.visibility import projects_in
from teams.access import TeamAccess, teams_of
from teams.models import Role, User


@dataclass(frozen=True)
class SignInLine:
    """One of the list. `end_url` takes a form that signs out."""

    name: str
    host: str
    team: str
    since: datetime
    problem: str
    end_url: str


@dataclass(frozen=True)
class SignInNotice:
    """What a person has to do again, and where."""

    text: str
    url: str


def own_sign_ins(user: User) -> list[SignInLine]:
    """Returns: those of a person's own, by team and name. Three queries."""
    teams = list(teams_of(user, need=Role.MEMBER))
    ending = {row.pk: row for row in ending_sign_ins(user.pk, [team.pk for team in teams])}
    rows = McpSignIn.objects.filter(user=user).exclude(state=McpSignIn.State.ENDED)
    return [
        SignInLine(
            name=row.name,
            host=urlsplit(row.url).hostname or "",
            team=row.team.name,
            since=row.signed_in_at,
            problem=_problem(row) if row.pk in ending else "",
            end_url=reverse("own_mcp_end", args=[row.pk]),
        )
        for row in rows.select_related("team").order_by("team__name", "name", "pk")
    ]


def sign_in_notices(access: TeamAccess) -> list[SignInNotice]:
    """Returns: what a person has to sign in to again in a team. One query where there is none."""
    rows = list(ending_sign_ins(access.user.pk, [access.team.pk]))
    if not rows:
        return []
    projects = list(projects_in(access).select_related("team").order_by("name", "pk"))
    named = {one: servers_in(config_data(one)) for one in projects}
    found = []
    for row in rows:
        where = next((one for one in projects if row.name in named[one]), None)
        if where is not None:
            found.append(SignInNotice(_problem(row), project_url(where, "project_mcp")))
    return found


def _problem(row: McpSignIn) -> str:
    if row.state == McpSignIn.State.REFUSED:
        said = _("The MCP server %(name)s no longer accepts your sign-in.")
        return said % {"name": row.name}
    ends = date_format(row.ends_at, "DATETIME_FORMAT") if row.ends_at else ""
    said = _("Your sign-in to the MCP server %(name)s ends on %(date)s.")
    return said % {"name": row.name, "date": ends}
