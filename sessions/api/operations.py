"""The names that the genuine program gives its operations, by which its clients call them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]  # a part of the document

# By path and method.
_IDS = {
    "/global/health": {"get": "global.health"},
    "/agent": {"get": "app.agents"},
    "/provider": {"get": "provider.list"},
    "/config/providers": {"get": "config.providers"},
    "/command": {"get": "command.list"},
    "/skill": {"get": "app.skills"},
    "/experimental/worktree": {
        "get": "worktree.list",
        "post": "worktree.create",
        "delete": "worktree.remove",
    },
    "/experimental/worktree/reset": {"post": "worktree.reset"},
    "/lsp": {"get": "lsp.status"},
    "/formatter": {"get": "formatter.status"},
    "/config": {"get": "config.get", "patch": "config.update"},
    "/global/config": {"get": "global.config.get", "patch": "global.config.update"},
    "/path": {"get": "path.get"},
    "/project": {"get": "project.list"},
    "/project/current": {"get": "project.current"},
    "/project/git/init": {"post": "project.initGit"},
    "/project/{project_id}": {"patch": "project.update"},
    "/project/{project_id}/directories": {"get": "project.directories"},
    "/vcs": {"get": "vcs.get"},
    "/session": {"get": "session.list", "post": "session.create"},
    "/session/status": {"get": "session.status"},
    "/session/{session_id}": {
        "get": "session.get",
        "patch": "session.update",
        "delete": "session.delete",
    },
    "/session/{session_id}/children": {"get": "session.children"},
    "/session/{session_id}/todo": {"get": "session.todo"},
    "/session/{session_id}/diff": {"get": "session.diff"},
    "/session/{session_id}/message": {"get": "session.messages", "post": "session.prompt"},
    "/session/{session_id}/message/{message_id}": {
        "get": "session.message",
        "delete": "session.deleteMessage",
    },
    "/session/{session_id}/command": {"post": "session.command"},
    "/session/{session_id}/prompt_async": {"post": "session.prompt_async"},
    "/session/{session_id}/summarize": {"post": "session.summarize"},
    "/session/{session_id}/abort": {"post": "session.abort"},
    "/session/{session_id}/message/{message_id}/part/{part_id}": {
        "delete": "part.delete",
        "patch": "part.update",
    },
    "/session/{session_id}/fork": {"post": "session.fork"},
    "/session/{session_id}/revert": {"post": "session.revert"},
    "/session/{session_id}/unrevert": {"post": "session.unrevert"},
    "/api/session/{session_id}/prompt": {"post": "v2.session.prompt"},
    "/permission": {"get": "permission.list"},
    "/permission/{request_id}/reply": {"post": "permission.reply"},
    "/session/{session_id}/permissions/{request_id}": {"post": "permission.respond"},
    "/question": {"get": "question.list"},
    "/question/{question_id}/reply": {"post": "question.reply"},
    "/question/{question_id}/reject": {"post": "question.reject"},
    "/event": {"get": "event.subscribe"},
    "/global/event": {"get": "global.event"},
    "/api/event": {"get": "v2.event.subscribe"},
    "/file": {"get": "file.list"},
    "/file/content": {"get": "file.read"},
    "/file/status": {"get": "file.status"},
    "/find": {"get": "find.text"},
    "/find/file": {"get": "find.files"},
    "/find/symbol": {"get": "find.symbols"},
    "/vcs/status": {"get": "vcs.status"},
    "/vcs/diff": {"get": "vcs.diff"},
    "/vcs/diff/raw": {"get": "vcs.diff.raw"},
    "/vcs/apply": {"post": "vcs.apply"},
    "/pty/shells": {"get": "pty.shells"},
    "/pty": {"get": "pty.list", "post": "pty.create"},
    "/pty/{pty_id}": {"get": "pty.get", "put": "pty.update", "delete": "pty.remove"},
    "/pty/{pty_id}/connect-token": {"post": "pty.connectToken"},
    "/pty/{pty_id}/connect": {"get": "pty.connect"},
    "/api/pty": {"get": "v2.pty.list", "post": "v2.pty.create"},
    "/api/pty/{pty_id}": {"get": "v2.pty.get", "put": "v2.pty.update", "delete": "v2.pty.remove"},
    "/api/pty/{pty_id}/connect-token": {"post": "v2.pty.connectToken"},
    "/api/pty/{pty_id}/connect": {"get": "v2.pty.connect"},
    "/api/session": {"get": "v2.session.list", "post": "v2.session.create"},
    "/api/session/active": {"get": "v2.session.active"},
    "/api/session/{session_id}": {"get": "v2.session.get"},
    "/api/session/{session_id}/agent": {"post": "v2.session.switchAgent"},
    "/api/session/{session_id}/model": {"post": "v2.session.switchModel"},
    "/api/session/{session_id}/compact": {"post": "v2.session.compact"},
    "/api/session/{session_id}/interrupt": {"post": "v2.session.interrupt"},
    "/api/session/{session_id}/wait": {"post": "v2.session.wait"},
    "/api/session/{session_id}/revert/stage": {"post": "v2.session.revert.stage"},
    "/api/session/{session_id}/revert/clear": {"post": "v2.session.revert.clear"},
    "/api/session/{session_id}/revert/commit": {"post": "v2.session.revert.commit"},
    "/api/session/{session_id}/message": {"get": "v2.session.messages"},
    "/api/session/{session_id}/message/{message_id}": {"get": "v2.session.message"},
    "/api/session/{session_id}/context": {"get": "v2.session.context"},
    "/api/session/{session_id}/history": {"get": "v2.session.history"},
    "/api/session/{session_id}/event": {"get": "v2.session.events"},
    "/api/permission/request": {"get": "v2.permission.request.list"},
    "/api/permission/saved": {"get": "v2.permission.saved.list"},
    "/api/permission/saved/{rule}": {"delete": "v2.permission.saved.remove"},
    "/api/session/{session_id}/permission": {"get": "v2.session.permission.list"},
    "/api/session/{session_id}/permission/{request_id}": {"get": "v2.session.permission.get"},
    "/api/session/{session_id}/permission/{request_id}/reply": {
        "post": "v2.session.permission.reply"
    },
    "/api/question/request": {"get": "v2.question.request.list"},
    "/api/session/{session_id}/question": {"get": "v2.session.question.list"},
    "/api/session/{session_id}/question/{question_id}/reply": {"post": "v2.session.question.reply"},
    "/api/session/{session_id}/question/{question_id}/reject": {
        "post": "v2.session.question.reject"
    },
    "/api/health": {"get": "v2.health.get"},
    "/api/location": {"get": "v2.location.get"},
    "/api/agent": {"get": "v2.agent.list"},
    "/api/provider": {"get": "v2.provider.list"},
    "/api/provider/{provider_id}": {"get": "v2.provider.get"},
    "/api/model": {"get": "v2.model.list"},
    "/api/command": {"get": "v2.command.list"},
    "/api/skill": {"get": "v2.skill.list"},
    "/api/reference": {"get": "v2.reference.list"},
    "/api/integration": {"get": "v2.integration.list"},
    "/api/integration/{integration_id}": {"get": "v2.integration.get"},
    "/api/integration/{integration_id}/connect/key": {"post": "v2.integration.connect.key"},
    "/api/integration/{integration_id}/connect/oauth": {"post": "v2.integration.connect.oauth"},
    "/api/integration/attempt/{attempt_id}": {
        "get": "v2.integration.attempt.status",
        "delete": "v2.integration.attempt.cancel",
    },
    "/api/integration/attempt/{attempt_id}/complete": {"post": "v2.integration.attempt.complete"},
    "/api/credential/{credential_id}": {
        "delete": "v2.credential.remove",
        "patch": "v2.credential.update",
    },
    "/api/fs/list": {"get": "v2.fs.list"},
    "/api/fs/read/{path}": {"get": "v2.fs.read"},
    "/api/fs/find": {"get": "v2.fs.find"},
    "/experimental/capabilities": {"get": "experimental.capabilities.get"},
    "/experimental/console": {"get": "experimental.console.get"},
    "/experimental/console/orgs": {"get": "experimental.console.listOrgs"},
    "/experimental/console/switch": {"post": "experimental.console.switchOrg"},
    "/experimental/tool/ids": {"get": "tool.ids"},
    "/experimental/tool": {"get": "tool.list"},
    "/experimental/resource": {"get": "experimental.resource.list"},
    "/experimental/session": {"get": "experimental.session.list"},
    "/experimental/session/{session_id}/background": {"post": "experimental.session.background"},
    "/experimental/control-plane/move-session": {"post": "experimental.controlPlane.moveSession"},
    "/experimental/workspace/adapter": {"get": "experimental.workspace.adapter.list"},
    "/experimental/workspace": {
        "get": "experimental.workspace.list",
        "post": "experimental.workspace.create",
    },
    "/experimental/workspace/status": {"get": "experimental.workspace.status"},
    "/experimental/workspace/sync-list": {"post": "experimental.workspace.syncList"},
    "/experimental/workspace/warp": {"post": "experimental.workspace.warp"},
    "/experimental/workspace/{workspace_id}": {"delete": "experimental.workspace.remove"},
    "/log": {"post": "app.log"},
    "/instance/dispose": {"post": "instance.dispose"},
    "/global/dispose": {"post": "global.dispose"},
    "/global/upgrade": {"post": "global.upgrade"},
    "/auth/{provider_id}": {"put": "auth.set", "delete": "auth.remove"},
    "/provider/auth": {"get": "provider.auth"},
    "/provider/{provider_id}/oauth/authorize": {"post": "provider.oauth.authorize"},
    "/provider/{provider_id}/oauth/callback": {"post": "provider.oauth.callback"},
    "/mcp": {"get": "mcp.status", "post": "mcp.add"},
    "/mcp/{name}/connect": {"post": "mcp.connect"},
    "/mcp/{name}/disconnect": {"post": "mcp.disconnect"},
    "/mcp/{name}/auth": {"post": "mcp.auth.start", "delete": "mcp.auth.remove"},
    "/mcp/{name}/auth/callback": {"post": "mcp.auth.callback"},
    "/mcp/{name}/auth/authenticate": {"post": "mcp.auth.authenticate"},
    "/experimental/project/{project_id}/copy/generate-name": {
        "post": "experimental.projectCopy.generateName"
    },
    "/experimental/project/{project_id}/copy/refresh": {"post": "v2.projectCopy.refresh"},
    "/experimental/project/{project_id}/copy": {
        "post": "v2.projectCopy.create",
        "delete": "v2.projectCopy.remove",
    },
    "/session/{session_id}/share": {"post": "session.share", "delete": "session.unshare"},
    "/session/{session_id}/shell": {"post": "session.shell"},
    "/session/{session_id}/init": {"post": "session.init"},
    "/sync/start": {"post": "sync.start"},
    "/sync/replay": {"post": "sync.replay"},
    "/sync/steal": {"post": "sync.steal"},
    "/sync/history": {"post": "sync.history.list"},
    "/tui/append-prompt": {"post": "tui.appendPrompt"},
    "/tui/execute-command": {"post": "tui.executeCommand"},
    "/tui/show-toast": {"post": "tui.showToast"},
    "/tui/select-session": {"post": "tui.selectSession"},
    "/tui/publish": {"post": "tui.publish"},
    "/tui/open-help": {"post": "tui.openHelp"},
    "/tui/open-sessions": {"post": "tui.openSessions"},
    "/tui/open-themes": {"post": "tui.openThemes"},
    "/tui/open-models": {"post": "tui.openModels"},
    "/tui/submit-prompt": {"post": "tui.submitPrompt"},
    "/tui/clear-prompt": {"post": "tui.clearPrompt"},
    "/tui/control/next": {"get": "tui.control.next"},
    "/tui/control/response": {"post": "tui.control.response"},
}


# Operations of these names are about a person or the server, and not about one place.
_PLACELESS = ("auth.", "global.", "experimental.controlPlane.")
# Of the second version, the session names the place of all others.
_AT_LOCATION = tuple(
    f"v2.{name}."
    for name in (
        *("location", "agent", "model", "provider", "integration", "credential", "command"),
        *("permission.request", "fs", "skill", "pty", "question.request", "reference"),
        "projectCopy",
    )
)
_TEXT: Json = {"type": "string"}
_DIRECTORY: Json = {
    "name": "directory",
    "in": "query",
    "required": False,
    "schema": _TEXT,
    "description": "Folder of a project or a session, or `team/project`",
}
_WORKSPACE: Json = {
    "name": "workspace",
    "in": "query",
    "required": False,
    "schema": _TEXT,
    "description": "Ignored: this server has no workspaces",
}
_PROJECT: Json = {
    "name": "project",
    "in": "query",
    "required": False,
    "schema": _TEXT,
    "description": "Id of a project",
}
_LOCATION: Json = {
    "name": "location",
    "in": "query",
    "required": False,
    "style": "deepObject",
    "explode": True,
    "schema": {"type": "object", "properties": {"directory": _TEXT, "workspace": _TEXT}},
}


def name_operation(path: str, method: str, operation: Json) -> None:
    """Give an operation of the document its genuine name and the parameters that name a place."""
    name = _IDS.get(path, {}).get(method)
    if name is None:
        return
    operation["operationId"] = name
    parameters = operation.setdefault("parameters", [])
    if name.startswith(_AT_LOCATION):
        parameters.append(_LOCATION)
    elif name == "v2.session.list":
        parameters += [_DIRECTORY, _WORKSPACE, _PROJECT]
    elif not name.startswith(("v2.", *_PLACELESS)):
        known = {parameter["name"] for parameter in parameters}
        parameters += [one for one in (_DIRECTORY, _WORKSPACE) if one["name"] not in known]
