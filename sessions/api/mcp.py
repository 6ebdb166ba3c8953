"""MCP servers: how they are, and the settings of a project that name them.

They are asked when a turn begins.
"""

from __future__ import annotations

from typing import Literal

from ninja import Field, Router, Schema
from pydantic import ValidationError
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.actions.mcp_servers import forget_mcp_server
from sessions.actions.team_items import item_of, mark_of, put_project_item
from sessions.api.auth import ApiRequest
from sessions.api.location import Location, find_location, require_location
from sessions.config.effective import project_config, team_data
from sessions.config.programs import McpConfig
from sessions.mcp.servers import KEY, McpStatus, refusal, servers_in, statuses, switched
from teams.access import require_role
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["mcp"])


class McpBody(Schema):
    """A server by name."""

    name: str = Field(max_length=100)
    config: JsonObject


class Done(TypedDict):
    success: Literal[True]


@router.get("/mcp", summary="MCP servers and how they are")
def list_mcp_servers(request: ApiRequest) -> dict[str, McpStatus]:
    location = find_location(request)
    if location is None:
        return {}
    return _statuses(location)


@router.post("/mcp", summary="Add an MCP server to the settings of a project, or change it")
def add_mcp_server(request: ApiRequest, body: McpBody) -> dict[str, McpStatus]:
    """Where it cannot be asked as it is described, nothing is changed."""
    location = require_location(request, need=Role.ADMIN)
    try:
        server = McpConfig.model_validate(body.config)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(key) for key in ("config", *first["loc"]))
        raise Invalid(f"{where}: {first['msg']}", field=where) from exc
    if reason := refusal(body.name, server):
        raise Invalid(reason)
    _put(request, location, body.name, body.config)
    return _statuses(location)


@router.delete("/mcp", summary="Remove an MCP server from the settings of a project")
def remove_mcp_server(request: ApiRequest, name: str = "") -> Done:
    """One of the team, or of this server, is not the project's to remove; it can be disconnected.

    One that is switched off for the project comes back as those have it.
    """
    location = require_location(request, need=Role.ADMIN)
    if name not in servers_in(location.project.config):
        raise NotFound("MCP server", name[:100])
    _put(request, location, name, None)
    return {"success": True}


@router.post("/mcp/{path:name}/connect", summary="Have an MCP server asked again in the next turn")
def connect_mcp(request: ApiRequest, name: str) -> bool:
    """Admins switch it on by that, if it is off."""
    location = require_location(request, need=Role.MEMBER)
    server = project_config(location.project).mcp.get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    if not server.enabled:
        require_role(location.access.team, Role.ADMIN)
        _switch(request, location, name, on=True)
    forget_mcp_server(location.project, name, location.user_id)
    return True


@router.post("/mcp/{path:name}/disconnect", summary="Switch an MCP server off for a project")
def disconnect_mcp(request: ApiRequest, name: str) -> bool:
    location = require_location(request, need=Role.ADMIN)
    if name not in project_config(location.project).mcp:
        raise NotFound("MCP server", name[:100])
    _switch(request, location, name, on=False)
    return True


def _statuses(location: Location) -> dict[str, McpStatus]:
    servers = project_config(location.project).mcp
    return statuses(location.project, servers, location.user_id)


def _switch(request: ApiRequest, location: Location, name: str, *, on: bool) -> None:
    own = servers_in(location.project.config).get(name)
    below = servers_in(team_data(location.project.team)).get(name)
    _put(request, location, name, switched(own, below, on=on))


def _put(request: ApiRequest, location: Location, name: str, value: JsonObject | None) -> None:
    path, project = (KEY, name), location.project
    seen, ip = mark_of(item_of(project.config, path)), client_ip(request)
    put_project_item(location.access, path, value, seen=seen, ip=ip)
    project.refresh_from_db(fields=["config"])
