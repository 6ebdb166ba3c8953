"""Routes below `/experimental` that clients ask when they start, and a list over all projects."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from ninja import Field, Query, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.access import access_session, visible_sessions
from sessions.agents.loader import find_agent
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, require_location
from sessions.api.sessions import MAX_LISTED, to_time
from sessions.config.effective import project_config
from sessions.config.web_search import with_search
from sessions.mcp.servers import resources_of_servers
from sessions.models import Session
from sessions.repository.custom_tools import CustomTool, offered_by
from sessions.rules.in_force import agent_ruleset
from sessions.wire import SessionWire, session_to_wire
from teams.models import Role
from tools.base import Tool
from tools.permissions.rules import is_hidden
from tools.registry import all_tools, offered_tools

router = Router(tags=["experimental"])


class GlobalFilter(Schema):
    """`cursor` is the `time.updated` of the last one of the page before."""

    roots: bool = False
    start: float | None = None
    cursor: float | None = None
    search: str = ""
    limit: Annotated[int, Field(ge=0)] = 100
    archived: bool = False


class SwitchBody(Schema):
    """An organisation of OpenCode's console."""

    accountID: str
    orgID: str


class MoveDestination(Schema):
    """A folder."""

    directory: str


class MoveBody(Schema):
    """Where a session shall go on."""

    sessionID: str
    destination: MoveDestination
    moveChanges: bool = False


class ProjectOfSession(TypedDict):
    id: str
    name: str
    worktree: str


class GlobalSession(SessionWire):
    project: ProjectOfSession


class ServerCapabilities(TypedDict):
    backgroundSubagents: bool


class Console(TypedDict):
    consoleManagedProviders: list[str]
    activeOrgName: NotRequired[str]
    switchableOrgCount: int


class Org(TypedDict):
    accountID: str
    accountEmail: str
    accountUrl: str
    orgID: str
    orgName: str
    active: bool


class Orgs(TypedDict):
    orgs: list[Org]


class ToolItem(TypedDict):
    id: str
    description: str
    parameters: JsonObject


class Resource(TypedDict):
    name: str
    uri: str
    description: NotRequired[str]
    mimeType: NotRequired[str]
    client: str


class Adapter(TypedDict):
    type: str
    name: str
    description: str


class Workspace(TypedDict):
    id: str
    type: str
    name: str
    branch: NotRequired[str]
    directory: NotRequired[str]
    projectID: str
    timeUsed: float


class WorkspaceStatus(TypedDict):
    workspaceID: str
    status: Literal["connected", "connecting", "disconnected", "error"]


@router.get("/experimental/capabilities", summary="What this server can do beyond the rest")
def capabilities(request: ApiRequest) -> ServerCapabilities:
    return {"backgroundSubagents": False}


@router.get("/experimental/console", summary="OpenCode's console has no part in this server")
def console(request: ApiRequest) -> Console:
    return {"consoleManagedProviders": [], "switchableOrgCount": 0}


@router.get("/experimental/console/orgs", summary="Organisations of OpenCode's console: none")
def console_orgs(request: ApiRequest) -> Orgs:
    return {"orgs": []}


@router.post("/experimental/console/switch", summary="Not offered: a token is for one team")
def console_switch(request: ApiRequest, body: SwitchBody) -> bool:
    raise Invalid("There is no organization to switch to: a token belongs to one team.")


@router.get("/experimental/tool/ids", summary="Names of all tools of a project")
def tool_names(request: ApiRequest) -> list[str]:
    location = require_location(request)
    config = project_config(location.project, location.folder)
    brought = offered_by(location.project, config.brought)
    return sorted({*all_tools(), *(tool.name for tool in brought)})


@router.get("/experimental/tool", summary="What a model is offered in a project, as it reads it")
def tools_offered(request: ApiRequest, provider: str, model: str) -> list[ToolItem]:
    location = require_location(request)
    project, folder = location.project, location.folder
    config = project_config(project, folder)
    ruleset = agent_ruleset(project, find_agent(config, ""), config, folder)
    features = with_search(config.features(), project.team_id, config)
    own = offered_tools(ruleset, model_id=model, features=features)
    brought = offered_by(project, config.brought)
    shown = [one for one in brought if not is_hidden(one.name, ruleset)]
    listed = [*map(_tool_to_wire, own), *map(_custom_to_wire, shown)]
    return sorted(listed, key=lambda tool: tool["id"])


def _tool_to_wire(tool: Tool[Any]) -> ToolItem:  # Any: see tools.registry
    return {"id": tool.name, "description": tool.description, "parameters": tool.schema()}


def _custom_to_wire(tool: CustomTool) -> ToolItem:
    return {"id": tool.name, "description": tool.description, "parameters": tool.parameters}


@router.get("/experimental/resource", summary="Resources of MCP servers")
def resources(request: ApiRequest) -> dict[str, Annotated[JsonObject, Unchecked(Resource)]]:
    location = find_location(request)
    if location is None:
        return {}
    servers = project_config(location.project).mcp
    return resources_of_servers(location.project, servers, location.user_id)


@router.get("/experimental/session", summary="Sessions of all your projects, the latest first")
def list_all_sessions(
    request: ApiRequest, filters: Annotated[GlobalFilter, Query()]
) -> list[GlobalSession]:
    rows = visible_sessions(request.auth)
    if filters.roots:
        rows = rows.filter(parent=None)
    if not filters.archived:
        rows = rows.filter(archived_at=None)
    if filters.start is not None:
        rows = rows.filter(updated_at__gte=to_time(filters.start))
    if filters.cursor is not None:
        rows = rows.filter(updated_at__lt=to_time(filters.cursor))
    if filters.search:
        rows = rows.filter(title__icontains=filters.search)
    limit = min(filters.limit, MAX_LISTED)
    return [_with_project(row) for row in rows.order_by("-updated_at", "pk")[:limit]]


def _with_project(session: Session) -> GlobalSession:
    project = session.project
    summary: ProjectOfSession = {
        "id": project.pk,
        "name": project.name,
        "worktree": project.directory,
    }
    return {**session_to_wire(session), "project": summary}


@router.post(
    "/experimental/session/{session_id}/background", summary="False: calls stay where they are"
)
def background(request: ApiRequest, session_id: str) -> bool:
    access_session(request.auth, session_id, need=Role.MEMBER)
    return False


@router.post(
    "/experimental/control-plane/move-session",
    response={204: None},
    summary="Not offered: fork the session, or begin one in the other folder",
)
def move_session(request: ApiRequest, body: MoveBody) -> None:
    session = access_session(request.auth, body.sessionID, need=Role.MEMBER).session
    if body.destination.directory.rstrip("/") == session.directory:
        return
    raise Invalid(
        "A session cannot be moved to another folder. Fork it, or start one in the other folder."
    )


# Workspaces are servers elsewhere that a local program speaks to. Here every host has workers.


class WorkspaceBody(Schema):
    """What kind of workspace."""

    type: str
    branch: str | None = None


class WarpBody(Schema):
    """Which workspace a session moves to; none is this server."""

    id: str | None
    sessionID: str
    copyChanges: bool = False


_NO_WORKSPACES = "There are no workspaces here. Give the session a git worktree of its own instead."


@router.get("/experimental/workspace/adapter", summary="Kinds of workspaces: none")
def list_adapters(request: ApiRequest) -> list[Adapter]:
    return []


@router.get("/experimental/workspace", summary="Workspaces: none")
def list_workspaces(request: ApiRequest) -> list[Workspace]:
    return []


@router.post("/experimental/workspace", summary="Not offered: begin a session with a worktree")
def create_workspace(request: ApiRequest, body: WorkspaceBody) -> Workspace:
    require_location(request, need=Role.MEMBER)
    raise Invalid(_NO_WORKSPACES)


@router.get("/experimental/workspace/status", summary="Connections to workspaces: none")
def workspace_status(request: ApiRequest) -> list[WorkspaceStatus]:
    return []


@router.post(
    "/experimental/workspace/sync-list", response={204: None}, summary="There is nothing to sync"
)
def sync_workspaces(request: ApiRequest) -> None:
    return


@router.post(
    "/experimental/workspace/warp", response={204: None}, summary="Only to where the session is"
)
def warp(request: ApiRequest, body: WarpBody) -> None:
    access_session(request.auth, body.sessionID, need=Role.MEMBER)
    if body.id is not None:
        raise Invalid(_NO_WORKSPACES)


@router.delete("/experimental/workspace/{workspace_id}", summary="There is none to remove")
def remove_workspace(request: ApiRequest, workspace_id: str) -> Workspace:
    raise NotFound("Workspace", workspace_id[:100])
