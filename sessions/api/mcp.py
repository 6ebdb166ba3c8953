"""MCP servers: how they are. They are set up in the settings, and asked when a turn begins."""

from __future__ import annotations

from ninja import Field, Router, Schema

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.actions.mcp_servers import forget_mcp_server
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, require_location
from sessions.effective_config import project_config
from sessions.mcp_servers import statuses
from teams.models import Role

router = Router(tags=["mcp"])


class McpBody(Schema):
    """A server by name."""

    name: str = Field(max_length=100)
    config: dict[str, object]


class CodeBody(Schema):
    """What the authorisation server gave."""

    code: str = Field(default="", max_length=10_000)


def _unknown(request: ApiRequest, name: str) -> NotFound:
    require_location(request, need=Role.MEMBER)
    return NotFound("MCP server", name[:100])


@router.get("/mcp", summary="MCP servers and how they are")
def list_mcp_servers(request: ApiRequest) -> JsonObject:
    location = find_location(request)
    if location is None:
        return {}
    return statuses(location.project, project_config(location.project).mcp)


@router.post("/mcp", summary="Not offered yet")
def add_mcp_server(request: ApiRequest, body: McpBody) -> JsonObject:
    require_location(request, need=Role.ADMIN)
    raise Invalid("Add MCP servers under mcp in the settings of the team or the project.")


@router.delete("/mcp", summary="There is none to remove")
def remove_mcp_server(request: ApiRequest, name: str = "") -> JsonObject:
    raise _unknown(request, name)


@router.post("/mcp/{name}/auth", summary="Begin to sign in to an MCP server")
def begin_mcp_auth(request: ApiRequest, name: str) -> JsonObject:
    raise _unknown(request, name)


@router.delete("/mcp/{name}/auth", summary="Forget a sign-in to an MCP server")
def remove_mcp_auth(request: ApiRequest, name: str) -> JsonObject:
    raise _unknown(request, name)


@router.post("/mcp/{name}/auth/callback", summary="End a sign-in to an MCP server")
def end_mcp_auth(request: ApiRequest, name: str, body: CodeBody) -> JsonObject:
    raise _unknown(request, name)


@router.post("/mcp/{name}/auth/authenticate", summary="Sign in to an MCP server, and wait")
def authenticate_mcp(request: ApiRequest, name: str) -> JsonObject:
    raise _unknown(request, name)


@router.post("/mcp/{name}/connect", summary="Have an MCP server asked again in the next turn")
def connect_mcp(request: ApiRequest, name: str) -> bool:
    project = require_location(request, need=Role.MEMBER).project
    server = project_config(project).mcp.get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    if not server.enabled:
        raise Invalid("It is switched off in the settings.")
    forget_mcp_server(project, name)
    return True


@router.post("/mcp/{name}/disconnect", summary="Disconnect an MCP server")
def disconnect_mcp(request: ApiRequest, name: str) -> bool:
    raise _unknown(request, name)
