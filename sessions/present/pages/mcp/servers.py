"""MCP servers in lists: where each is set, and how it was when it was last asked."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.config.effective import config_data, team_data
from sessions.config.model import Config
from sessions.config.programs import McpConfig
from sessions.mcp.grants import granted_by
from sessions.mcp.programs import digest_of_programs, programs_in, unaccepted
from sessions.mcp.servers import KEY, NEEDS_AUTH, known_servers, refusal, running, servers_in
from sessions.models import McpProgram, McpServer, Project
from sessions.present.projects import labels_of, project_url
from sessions.visibility import projects_in
from teams.access import TeamAccess

_LEVELS = {
    "server": gettext_noop("From this server"),
    "team": gettext_noop("From the team"),
    "project": gettext_noop("From the project"),
}
_CHIPS = {
    "connected": ("chip-done", gettext_noop("Connected")),
    "failed": ("chip-fail", gettext_noop("Failed")),
    "waiting": ("chip-ask", gettext_noop("Sign-in needed")),
    "unasked": ("chip", gettext_noop("Not checked yet")),
    "off": ("chip", gettext_noop("Off")),
    "on": ("chip-done", gettext_noop("On")),
}


@dataclass(frozen=True)
class ServerOffer:
    """What a server offers. `tools` are `{name, remote, description}`, as agents see them."""

    at: datetime
    tools: list[JsonObject] = field(default_factory=list)
    # {name, uri, description}; agents list them anew.
    resources: list[JsonObject] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Programs:
    """Files of the project that a server runs. `by` and `at` are of who accepted them."""

    files: list[str]
    digest: str
    is_accepted: bool
    accept_url: str
    by: str
    at: datetime | None


@dataclass(frozen=True)
class ProjectServers:
    """A project, and the names of servers of its own, or of files that one runs."""

    label: str
    url: str
    names: str


@dataclass(frozen=True)
class ServerLine:
    """One of the list. An address is empty where nothing can be done there."""

    name: str
    runs: str
    variables: str
    level: str
    is_on: bool
    chip: str
    state: str
    error: str = ""
    offer: ServerOffer | None = None
    edit_url: str = ""
    delete_url: str = ""
    switch_url: str = ""
    again_url: str = ""
    tools_url: str = ""
    # For the team, by an admin; and each for themselves.
    sign_in_url: str = ""
    sign_out_url: str = ""
    own_in_url: str = ""
    own_out_url: str = ""
    # With whose account it is used.
    whose: str = ""
    # Whether it may ask the model, in a sentence.
    sampling: str = ""
    # Of files of the project, until an admin has accepted them as they are.
    programs: Programs | None = None
    # Of a team's: the projects whose files it runs, where nobody has accepted them yet.
    awaited_in: list[ProjectServers] = field(default_factory=list)


_SAMPLING = {
    "ask": gettext_noop("Can ask the model, each time with permission."),
    "allow": gettext_noop("Can ask the model."),
}
Address = Callable[[str, str], str]


def team_lines(access: TeamAccess, address: Address) -> list[ServerLine]:
    """The servers of every project of a team. `address`: of what is done with one, by name."""
    team = access.team
    own = servers_in(team.config)
    awaited = awaited_in(projects_in(access))
    lines = []
    for name, server in _parsed(team_data(team)).items():
        level = "team" if _is_defined(own.get(name)) else "server"
        line = _line(name, server, level, address, own)
        lines.append(replace(line, awaited_in=awaited.get(name, [])))
    return lines


def project_lines(access: ProjectAccess, address: Address) -> list[ServerLine]:
    """The servers of a project, with what they said. Three queries at most."""
    project, user_id = access.project, access.principal.user.pk
    servers = _parsed(config_data(project))
    own, teams = servers_in(project.config), servers_in(project.team.config)
    known, granted = known_servers(project, servers, user_id), granted_by(project, servers, user_id)
    found = _programs(project, servers, address)
    lines = []
    for name, server in servers.items():
        level = "project" if _is_defined(own.get(name)) else "server"
        if level == "server" and _is_defined(teams.get(name)):
            level = "team"
        line = _line(name, server, level, address, own, known)
        if (programs := found.get(name)) is not None:
            line = _with_programs(line, programs)
        is_waiting = name not in known or bool(known[name].state)
        lines.append(_with_sign_ins(line, server, granted[name], address, is_waiting=is_waiting))
    return lines


def _with_sign_ins(
    line: ServerLine, server: McpConfig, granted: set[bool], address: Address, *, is_waiting: bool
) -> ServerLine:
    """`granted`: whether on one's own and for the team."""
    if True in granted:
        out_url = address("_own_sign_out", line.name)
        line = replace(line, own_out_url=out_url, whose=_("Used with your own account."))
    elif server.enabled and server.takes_own and (is_waiting or False in granted):
        line = replace(line, own_in_url=address("_own_sign_in", line.name))
    if False in granted:
        line = replace(line, sign_out_url=address("_sign_out", line.name))
        if server.takes_own and True not in granted:
            line = replace(line, whose=_("Used with the team's account until you sign in."))
    elif server.enabled and server.takes_team and (is_waiting or True in granted):
        line = replace(line, sign_in_url=address("_sign_in", line.name))
    return line


def _programs(
    project: Project, servers: dict[str, McpConfig], address: Address
) -> dict[str, Programs]:
    """By the name of the server. One query, if anything."""
    if project.host != settings.HOST_NAME or project.status != Project.Status.READY:
        return {}
    folder, wanted = Path(project.directory), running(servers)
    named = {name: files for name in wanted if (files := programs_in(folder, wanted[name]))}
    rows = McpProgram.objects.filter(project=project).select_related("accepted_by")
    words = {row.name: row for row in rows} if named else {}
    return {name: _accepted(name, files, words.get(name), address) for name, files in named.items()}


def _with_programs(line: ServerLine, programs: Programs) -> ServerLine:
    if programs.is_accepted:
        return replace(line, programs=programs)
    # Whatever it said before: it is not started any more. The notice says why.
    return replace(line, programs=programs, chip="chip-ask", state=_("Not accepted yet"), error="")


def _accepted(
    name: str, files: dict[str, str], row: McpProgram | None, address: Address
) -> Programs:
    return Programs(
        files=sorted(files),
        digest=digest_of_programs(files),
        is_accepted=not unaccepted(files, row),
        accept_url=address("_accept", name),
        by=row.accepted_by.display_name if row and row.accepted_by else "",
        at=row.accepted_at if row else None,
    )


def awaited_in(projects: QuerySet[Project]) -> dict[str, list[ProjectServers]]:
    """The projects in which a server runs files that are to be accepted, by its name.

    One query, and one for each project in which a server runs any.
    """
    found: dict[str, list[ProjectServers]] = {}
    rows = list(projects.select_related("team").order_by("name", "pk"))
    labels = labels_of(rows)
    for project in rows:
        url = project_url(project, "project_mcp")
        programs = _programs(project, _parsed(config_data(project)), lambda _act, _name: "")
        for name, one in programs.items():
            if not one.is_accepted:
                line = ProjectServers(labels[project.pk], url, ", ".join(one.files))
                found.setdefault(name, []).append(line)
    return found


def projects_with_servers(access: TeamAccess) -> list[ProjectServers]:
    """The projects of a team that have servers of their own. One query."""
    projects = list(projects_in(access).select_related("team").order_by("name", "pk"))
    labels = labels_of(projects)
    return [
        ProjectServers(labels[one.pk], project_url(one, "project_mcp"), ", ".join(names))
        for one in projects
        if (names := sorted(servers_in(one.config)))
    ]


def summary_of(project: Project) -> str:
    """Returns: such as `shop, files`; a sentence when there are none."""
    names = list(_parsed(config_data(project)))
    return ", ".join(names[:5]) + ("…" if len(names) > 5 else "") if names else _("None")


def _parsed(data: JsonObject) -> dict[str, McpConfig]:
    return Config.model_validate({KEY: servers_in(data)}).mcp


def _is_defined(stored: JsonObject | None) -> bool:
    """Whether a level says more of a server than that it is on or off."""
    return bool(stored and stored.keys() - {"enabled"})


def _line(
    name: str,
    server: McpConfig,
    level: str,
    address: Address,
    own: Mapping[str, JsonObject],
    known: Mapping[str, McpServer] | None = None,
) -> ServerLine:
    state, error, row = "on" if server.enabled else "off", "", None
    if server.enabled:
        error = refusal(name, server)
        state = "failed" if error else state
    if known is not None and state == "on":
        row = known.get(name)
        error = row.error if row else ""
        state = "unasked" if row is None else "failed" if error else "connected"
        if row is not None and row.state:
            # What there is to do is on the button beside it.
            error = "" if row.state == NEEDS_AUTH else error
            state = "waiting"
    # Also one that is only switched off here, and that nobody above knows any more.
    is_orphan = name in own and not server.command and not server.url
    is_own = _is_defined(own.get(name)) or is_orphan
    chip, said = _CHIPS[state]
    return ServerLine(
        name=name,
        runs=server.url or shlex.join(server.command),
        variables=", ".join(server.environment),
        level=_(_LEVELS[level]),
        is_on=server.enabled,
        chip=chip,
        state=_(said),
        error=error,
        sampling=_(_SAMPLING[server.sampling]) if server.samples else "",
        offer=_offer(row),
        edit_url=address("", name) if is_own else "",
        delete_url=address("_delete", name) if is_own else "",
        switch_url=address("_enabled", name),
        again_url=address("_again", name) if known is not None and row is not None else "",
        tools_url=address("_tools", name) if row is not None and row.tools else "",
    )


def _offer(row: McpServer | None) -> ServerOffer | None:
    if row is None or row.state:
        return None
    return ServerOffer(row.asked_at, row.tools, row.resources or [], row.problems)


def below_team() -> dict[str, JsonObject]:
    """Returns: the servers that every team of this server has."""
    return servers_in(instance_config())


def below_project(project: Project) -> dict[str, JsonObject]:
    """Returns: the servers that every project of its team has."""
    return servers_in(team_data(project.team))
