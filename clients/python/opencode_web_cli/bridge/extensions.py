"""FEAT-0011 beyond the standard methods: `_opencode/…`, each over a route of the server.

They take `sessionId` of an open session, or `cwd` for its project, and the route's own fields.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from acp import RequestError

from opencode_web_cli.bridge import turns
from opencode_web_cli.bridge.place import require_path
from opencode_web_cli.bridge.room import Room
from opencode_web_cli.bridge.server import Json, request_path, session_path
from opencode_web_cli.bridge.sessions import OpenSession

Extension = Callable[[Room, Any], Awaitable[Json]]
EXTENSIONS: dict[str, Extension] = {}
# Tools that people can use, too: a route, and its field for the path or the pattern.
_LOOKUPS = {
    "read": ("/file/content", "path"),
    "list": ("/file", "path"),
    "grep": ("/find", "pattern"),
    "glob": ("/find/file", "query"),
}
_TOKENS = ("input", "output", "reasoning")


def _extension(name: str) -> Callable[[Callable[[Room, Json], Awaitable[Json]]], Extension]:
    def add(function: Callable[[Room, Json], Awaitable[Json]]) -> Extension:
        async def checked(room: Room, params: Any) -> Json:
            if not isinstance(params, dict):
                raise _invalid("params must be an object")
            return await function(room, params)

        EXTENSIONS[f"_opencode/{name}"] = checked
        return checked

    return add


def _text(params: Json, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise _invalid(f"{name} must be a text")
    return value


def _object(params: Json, name: str) -> Json:
    value = params.get(name)
    if not isinstance(value, dict):
        raise _invalid(f"{name} must be an object")
    return value


def _session(room: Room, params: Json) -> OpenSession:
    return room.find(_text(params, "sessionId"))


async def _directory(room: Room, params: Json) -> str:
    if "sessionId" in params:
        return _session(room, params).directory
    return (await room.place_of(_text(params, "cwd"))).directory


def _inside(session: OpenSession, params: Json) -> str:
    """Returns: the path of a file from the session's folder. Raises: Refused."""
    path = params.get("path") or "."
    if not isinstance(path, str):
        raise _invalid("path must be a text")
    remote = require_path(session.paths, path)
    return remote.removeprefix(session.paths.remote).lstrip("/")


@_extension("agent/list")
async def list_agents(room: Room, params: Json) -> Json:
    """FR-01."""
    directory = await _directory(room, params)
    return {"agents": await room.server.call("GET", "/agent", directory=directory)}


@_extension("agent/get")
async def get_agent(room: Room, params: Json) -> Json:
    """FR-01. Raises: RequestError for an agent that there is not."""
    return {"agent": await _agent(room, params)}


async def _agent(room: Room, params: Json) -> Json:
    agents = (await list_agents(room, params))["agents"]
    name = _text(params, "name")
    found = next((agent for agent in agents if agent["name"] == name), None)
    if found is None:
        raise _invalid(f"agent not found: {name}")
    return dict(found)


@_extension("agent/create")
async def create_agent(room: Room, params: Json) -> Json:
    """FR-01: into the settings of the project, or over what they have under this name."""
    directory, name = await _directory(room, params), _text(params, "name")
    change = {"agent": {name: _object(params, "agent")}}
    await room.server.call("PATCH", "/config", body=change, directory=directory)
    return await get_agent(room, params)


@_extension("agent/delete")
async def delete_agent(room: Room, params: Json) -> Json:
    """FR-01. Raises: RequestError for one that the settings of the project do not have."""
    agent = await _agent(room, params)
    if agent.get("native") or agent.get("repository"):
        name = f"_opencode/agent/delete: {agent['name']} is not one of the project's settings"
        raise RequestError(-32601, f'"Method not found": {name}')
    directory = await _directory(room, params)
    change = {"agent": {agent["name"]: {"disable": True}}}
    await room.server.call("PATCH", "/config", body=change, directory=directory)
    return {}


@_extension("session/get")
async def get_session(room: Room, params: Json) -> Json:
    """FR-02."""
    path = session_path(_text(params, "sessionId"))
    info = await room.server.call("GET", path)
    busy = await room.server.call("GET", "/session/status", directory=info["directory"])
    status = busy.get(info["id"], {"type": "idle"})
    changes = await room.server.call("GET", f"{path}/diff")
    return {"session": info, "status": status, "changes": changes}


@_extension("session/abort")
async def abort_session(room: Room, params: Json) -> Json:
    """FR-02: whoever has begun the turn."""
    await turns.stop(_session(room, params))
    return {}


@_extension("session/delete")
async def delete_session(room: Room, params: Json) -> Json:
    """FR-02: for good."""
    session_id = _text(params, "sessionId")
    path = session_path(session_id)
    await room.forget(session_id)
    await room.server.call("DELETE", path)
    return {}


@_extension("tool/list")
async def list_tools(room: Room, params: Json) -> Json:
    """FR-03: what the session's model is offered, with the last rule that is about each."""
    session = _session(room, params)
    provider, _, model = session.chosen.model.partition("/")
    query = {"provider": provider, "model": model, "directory": session.directory}
    tools = await room.server.call("GET", "/experimental/tool", **query)
    agent = await _agent(room, {**params, "name": session.chosen.agent})
    for tool in tools:
        about = [rule for rule in agent["permission"] if rule["permission"] in (tool["id"], "*")]
        tool["rule"] = about[-1] if about else None
    return {"tools": tools}


@_extension("tool/call")
async def call_tool(room: Room, params: Json) -> Json:
    """FR-03: a tool that people can use, too. `bash` becomes part of the conversation.

    Raises: RequestError for a tool that only agents can call.
    """
    session, name, given = _session(room, params), _text(params, "name"), _object(params, "input")
    if name == "bash":
        body = {"command": _text(given, "command"), "agent": session.chosen.agent}
        row = await session.call("POST", "/shell", body=body)
        calls = [part for part in row["parts"] if part["type"] == "tool"]
        return {"result": calls[-1] if calls else row}
    if name not in _LOOKUPS:
        raise _invalid(f"only these tools can be called: bash, {', '.join(_LOOKUPS)}")
    route, field = _LOOKUPS[name]
    value = _inside(session, given) if field == "path" else _text(given, "pattern")
    query = {field: value, "directory": session.paths.remote}
    return {"result": await room.server.call("GET", route, **query)}


@_extension("event/subscribe")
async def subscribe(room: Room, params: Json) -> Json:
    """FR-04: `_opencode/event` with each event of the session; `{"on": false}` ends it."""
    _session(room, params).wants_events = params.get("on", True) is not False
    return {}


@_extension("permission/list")
async def list_permissions(room: Room, params: Json) -> Json:
    """FR-05."""
    directory = await _directory(room, params)
    return {"requests": await room.server.call("GET", "/permission", directory=directory)}


@_extension("permission/reply")
async def reply_permission(room: Room, params: Json) -> Json:
    """FR-05: the first answer wins."""
    body = {"reply": _text(params, "reply"), "message": str(params.get("message") or "")}
    await room.server.call("POST", request_path(_text(params, "requestId")), body=body)
    return {}


@_extension("file/read")
async def read_file(room: Room, params: Json) -> Json:
    """FR-06."""
    return {"file": (await call_tool(room, _looking(params, "read", "path")))["result"]}


@_extension("file/list")
async def list_files(room: Room, params: Json) -> Json:
    """FR-06."""
    return {"entries": (await call_tool(room, _looking(params, "list", "path")))["result"]}


@_extension("file/find")
async def find_files(room: Room, params: Json) -> Json:
    """FR-06: files by a part of their path (`query`), or lines by `pattern`."""
    if "pattern" in params:
        return {"lines": (await call_tool(room, _looking(params, "grep", "pattern")))["result"]}
    found = await call_tool(room, _looking({**params, "pattern": params.get("query")}, "glob"))
    return {"files": found["result"]}


def _looking(params: Json, name: str, *fields: str) -> Json:
    given = {field: params[field] for field in fields or ("pattern",) if field in params}
    return {"sessionId": params.get("sessionId"), "name": name, "input": given}


@_extension("file/status")
async def file_status(room: Room, params: Json) -> Json:
    """FR-06: what is changed in the server's worktree."""
    directory = _session(room, params).paths.remote
    return {"files": await room.server.call("GET", "/file/status", directory=directory)}


@_extension("usage")
async def get_usage(room: Room, params: Json) -> Json:
    """FR-07. Units: tokens, and USD."""
    path = session_path(_text(params, "sessionId"))
    rows = await room.server.call("GET", f"{path}/message")
    models: dict[str, dict[str, float]] = {}
    for info in (row["info"] for row in rows if row["info"]["role"] == "assistant"):
        name = f"{info['providerID']}/{info['modelID']}"
        used = models.setdefault(name, dict.fromkeys((*_TOKENS, "read", "write", "cost"), 0))
        tokens = info["tokens"]
        for key in _TOKENS:
            used[key] += tokens[key]
        for key in ("read", "write"):
            used[key] += tokens["cache"][key]
        used["cost"] += info["cost"]
    info = await room.server.call("GET", path)
    return {"models": models, "tokens": info["tokens"], "cost": info["cost"]}


@_extension("config/get")
async def get_config(room: Room, params: Json) -> Json:
    """FR-08: without secrets, as the server shows it."""
    directory = await _directory(room, params)
    return {"config": await room.server.call("GET", "/config", directory=directory)}


def _invalid(message: str) -> RequestError:
    return RequestError(-32602, f"Invalid params: {message}")
