"""What the routes answer that clients of one person ask for, for `/doc`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue
from sessions.api.v2.catalog_answers import SelectPrompt, TextPrompt

_Text = str | SkipJsonSchema[None]


class Upgraded(BaseModel):
    success: Literal[False]
    error: str


class IgnoredSetting(BaseModel):
    key: str
    path: str
    reason: str


class BrokenFile(BaseModel):
    path: str
    reason: str


class RepositoryConfig(BaseModel):
    files: list[str]
    isTrusted: bool
    ignored: list[IgnoredSetting]
    problems: list[BrokenFile]


class ServerCapabilities(BaseModel):
    backgroundSubagents: bool


class Console(BaseModel):
    consoleManagedProviders: list[str]
    activeOrgName: _Text = None
    switchableOrgCount: int


class Org(BaseModel):
    accountID: str
    accountEmail: str
    accountUrl: str
    orgID: str
    orgName: str
    active: bool


class Orgs(BaseModel):
    orgs: list[Org]


class ToolItem(BaseModel):
    id: str
    description: str
    parameters: dict[str, JsonValue]


class Resource(BaseModel):
    name: str
    uri: str
    description: _Text = None
    mimeType: _Text = None
    client: str


class Adapter(BaseModel):
    type: str
    name: str
    description: str


class Workspace(BaseModel):
    id: str
    type: str
    name: str
    branch: _Text = None
    directory: _Text = None
    projectID: str
    timeUsed: float


class WorkspaceStatus(BaseModel):
    workspaceID: str
    status: Literal["connected", "connecting", "disconnected", "error"]


class McpConnected(BaseModel):
    status: Literal["connected"]


class McpDisabled(BaseModel):
    status: Literal["disabled"]


class McpNeedsAuth(BaseModel):
    status: Literal["needs_auth"]


class McpFailed(BaseModel):
    status: Literal["failed"]
    error: str


class McpNeedsRegistration(BaseModel):
    status: Literal["needs_client_registration"]
    error: str


McpStatus = McpConnected | McpDisabled | McpNeedsAuth | McpFailed | McpNeedsRegistration


class McpAuth(BaseModel):
    authorizationUrl: str
    oauthState: str


class Done(BaseModel):
    success: Literal[True]


class AuthMethod(BaseModel):
    type: Literal["oauth", "api"]
    label: str
    prompts: list[TextPrompt | SelectPrompt] = []


class Authorization(BaseModel):
    url: str
    method: Literal["auto", "code"]
    instructions: str


class ProjectDirectory(BaseModel):
    directory: str
    strategy: _Text = None


class NewWorktree(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    branch: str
    directory: str


class CopyName(BaseModel):
    name: str


class Copy(BaseModel):
    directory: str


class TuiRequest(BaseModel):
    path: str
    body: JsonValue


class SyncedSession(BaseModel):
    sessionID: str


class SyncedEvent(BaseModel):
    id: str
    aggregate_id: str
    seq: int
    type: str
    data: dict[str, JsonValue]


_Settings = dict[str, JsonValue]
ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("put", "/config"): _Settings,
    ("get", "/config/repository"): RepositoryConfig,
    ("get", "/global/config"): _Settings,
    ("patch", "/global/config"): _Settings,
    ("put", "/auth/{provider_id}"): bool,
    ("delete", "/auth/{provider_id}"): bool,
    ("get", "/provider/auth"): dict[str, list[AuthMethod]],
    ("post", "/provider/{provider_id}/oauth/authorize"): Authorization,
    ("post", "/provider/{provider_id}/oauth/callback"): bool,
    ("post", "/log"): bool,
    ("get", "/log"): list[str],
    ("post", "/instance/dispose"): bool,
    ("post", "/global/dispose"): bool,
    ("post", "/global/upgrade"): Upgraded,
    ("get", "/experimental/capabilities"): ServerCapabilities,
    ("get", "/experimental/console"): Console,
    ("get", "/experimental/console/orgs"): Orgs,
    ("post", "/experimental/console/switch"): bool,
    ("get", "/experimental/tool/ids"): list[str],
    ("get", "/experimental/tool"): list[ToolItem],
    ("get", "/experimental/resource"): dict[str, Resource],
    ("post", "/experimental/session/{session_id}/background"): bool,
    ("post", "/experimental/control-plane/move-session"): None,
    ("post", "/experimental/worktree"): NewWorktree,
    ("delete", "/experimental/worktree"): bool,
    ("post", "/experimental/worktree/reset"): bool,
    ("post", "/experimental/project/{project_id}/copy/generate-name"): CopyName,
    ("post", "/experimental/project/{project_id}/copy/refresh"): None,
    ("post", "/experimental/project/{project_id}/copy"): Copy,
    ("delete", "/experimental/project/{project_id}/copy"): None,
    ("get", "/experimental/workspace/adapter"): list[Adapter],
    ("get", "/experimental/workspace"): list[Workspace],
    ("post", "/experimental/workspace"): Workspace,
    ("get", "/experimental/workspace/status"): list[WorkspaceStatus],
    ("post", "/experimental/workspace/sync-list"): None,
    ("delete", "/experimental/workspace/{workspace_id}"): Workspace,
    ("post", "/experimental/workspace/warp"): None,
    ("get", "/mcp"): dict[str, McpStatus],
    ("post", "/mcp"): dict[str, McpStatus],
    ("delete", "/mcp"): Done,
    ("post", "/mcp/{name}/auth"): McpAuth,
    ("delete", "/mcp/{name}/auth"): Done,
    ("post", "/mcp/{name}/auth/callback"): McpStatus,
    ("post", "/mcp/{name}/auth/authenticate"): McpStatus,
    ("post", "/mcp/{name}/connect"): bool,
    ("post", "/mcp/{name}/disconnect"): bool,
    ("get", "/project/{project_id}/directories"): list[ProjectDirectory],
    ("post", "/tui/append-prompt"): bool,
    ("post", "/tui/execute-command"): bool,
    ("post", "/tui/show-toast"): bool,
    ("post", "/tui/select-session"): bool,
    ("post", "/tui/publish"): bool,
    ("post", "/tui/open-help"): bool,
    ("post", "/tui/open-sessions"): bool,
    ("post", "/tui/open-themes"): bool,
    ("post", "/tui/open-models"): bool,
    ("post", "/tui/submit-prompt"): bool,
    ("post", "/tui/clear-prompt"): bool,
    ("get", "/tui/control/next"): TuiRequest,
    ("post", "/tui/control/response"): bool,
    ("post", "/sync/start"): bool,
    ("post", "/sync/replay"): SyncedSession,
    ("post", "/sync/steal"): SyncedSession,
    ("post", "/sync/history"): list[SyncedEvent],
}
