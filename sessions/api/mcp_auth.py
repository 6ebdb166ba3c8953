"""Signing in to MCP servers at an address."""

from __future__ import annotations

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.outside import run_outside
from sessions.access import ProjectAccess
from sessions.actions.mcp_oauth import begin_sign_in, finish_own_sign_in
from sessions.actions.mcp_sign_ins import role_for, sign_out
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import require_location
from sessions.api.mcp import Done
from sessions.config.effective import project_config
from sessions.config.programs import McpConfig
from sessions.mcp.grants import signed_in
from sessions.mcp.servers import McpStatus, known_servers, status_of
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["mcp"])


class CodeBody(Schema):
    """What the authorisation server gave."""

    code: str = Field(default="", max_length=10_000)


class McpAuth(TypedDict):
    authorizationUrl: str
    oauthState: str


# No transaction is open while a server is asked, whatever key of idempotency is sent.
@router.post(
    "/mcp/{path:name}/auth",
    summary="Begin to sign in to an MCP server",
    auth=AsyncTokenOrCookie(),
)
async def begin_mcp_auth(request: ApiRequest, name: str) -> McpAuth:
    return await run_outside(_begin, request, name)


def _begin(request: ApiRequest, name: str) -> McpAuth:
    access, server = _server(request, name)
    begun = begin_sign_in(access, name, own=server.takes_own)
    return {"authorizationUrl": begun.authorization_url, "oauthState": begun.state}


@router.delete(
    "/mcp/{path:name}/auth",
    summary="Forget a sign-in to an MCP server",
    auth=AsyncTokenOrCookie(),
)
async def remove_mcp_auth(request: ApiRequest, name: str) -> Done:
    return await in_db(_remove, request, name)


def _remove(request: ApiRequest, name: str) -> Done:
    access, server = _server(request, name)
    sign_out(access, name=name, own=server.takes_own, ip=client_ip(request))
    return {"success": True}


@router.post(
    "/mcp/{path:name}/auth/callback",
    summary="End a sign-in to an MCP server",
    auth=AsyncTokenOrCookie(),
)
async def end_mcp_auth(request: ApiRequest, name: str, body: CodeBody) -> McpStatus:
    return await run_outside(_end, request, name, body)


def _end(request: ApiRequest, name: str, body: CodeBody) -> McpStatus:
    access, _ = _server(request, name)
    finish_own_sign_in(access, name=name, code=body.code, ip=client_ip(request))
    # It has just let us in; what it has is asked when the next turn begins.
    return {"status": "connected"}


@router.post("/mcp/{path:name}/auth/authenticate", summary="How a sign-in to an MCP server went")
def authenticate_mcp(request: ApiRequest, name: str) -> McpStatus:
    access, server = _server(request, name)
    if signed_in(access.project, name, server, access.principal.user.pk) is None:
        raise Invalid(
            "This server cannot open a browser. Open the address that POST /mcp/{name}/auth "
            "returns."
        )
    return _status(access, name, server)


def _server(request: ApiRequest, name: str) -> tuple[ProjectAccess, McpConfig]:
    """With one's own account, where the server takes that. Raises: NotFound; Forbidden."""
    access = require_location(request, need=Role.MEMBER).access
    server = project_config(access.project).mcp.get(name)
    if server is None:
        raise NotFound("MCP server", name[:100])
    return require_location(request, need=role_for(own=server.takes_own)).access, server


def _status(access: ProjectAccess, name: str, server: McpConfig) -> McpStatus:
    known = known_servers(access.project, {name: server}, access.principal.user.pk)
    return status_of(name, server, known.get(name))
