"""The methods of the protocol. One agent for each connection of an editor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from acp import RequestError, schema
from acp.connection import Connection
from pydantic import BaseModel, Field, ValidationError

from opencode_web_cli.bridge import turns
from opencode_web_cli.bridge.extensions import EXTENSIONS
from opencode_web_cli.bridge.options import Chosen
from opencode_web_cli.bridge.room import Room
from opencode_web_cli.bridge.server import Json, Lost, Refused, Server, report
from opencode_web_cli.bridge.sessions import OpenSession

PROTOCOL_VERSION = 1
# The id that OpenCode's own agent has for it.
AUTH_METHOD = "opencode-login"
# Clients send servers for `http` and `sse` only where these are offered; the answer names those
# that are not used, which is all of them.
CAPABILITIES: Json = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "promptCapabilities": {"embeddedContext": True, "image": True},
    "sessionCapabilities": {"close": {}, "fork": {}, "list": {}, "resume": {}},
}
_LOGIN = ["token", "create", "editor", "--scope", "write"]
Params = TypeVar("Params", bound=BaseModel)
Handler = Callable[[Any], Awaitable[Any]]


class SetModel(BaseModel):
    """Of a version before the SDK's, and still used."""

    session_id: str = Field(alias="sessionId")
    model_id: str = Field(alias="modelId")


@dataclass(frozen=True)
class Settings:
    """How a bridge was started. `project` is empty for the folder's own."""

    url: str
    token: str
    project: str = ""
    mirrors: bool = False


class Agent:
    """Answers what an editor asks. `connect` must be called before the first message."""

    def __init__(self, server: Server, settings: Settings) -> None:
        self._server, self._settings = server, settings
        self._connection: Connection | None = None
        self._later: set[asyncio.Task[None]] = set()
        self._room = Room(server, self._send, self._ask, settings.project, settings.mirrors)
        self._handlers: dict[str, tuple[type[BaseModel], Handler]] = {
            "initialize": (schema.InitializeRequest, self._initialize),
            "authenticate": (schema.AuthenticateRequest, self._authenticate),
            "session/new": (schema.NewSessionRequest, self._new),
            "session/load": (schema.LoadSessionRequest, self._load),
            "session/resume": (schema.ResumeSessionRequest, self._resume),
            "session/fork": (schema.ForkSessionRequest, self._fork),
            "session/list": (schema.ListSessionsRequest, self._list),
            "session/close": (schema.CloseSessionRequest, self._close),
            "session/prompt": (schema.PromptRequest, self._prompt),
            "session/set_mode": (schema.SetSessionModeRequest, self._set_mode),
            "session/set_model": (SetModel, self._set_model),
            "session/set_config_option": (
                schema.SetSessionConfigOptionSelectRequest,
                self._set_option,
            ),
        }

    def connect(self, connection: Connection) -> None:
        """Say who is talked to."""
        self._connection = connection

    def close(self) -> None:
        """Let go of everything; what the server does goes on."""
        self._room.close()
        for task in self._later:
            task.cancel()

    async def handle(self, method: str, params: Any, is_notification: bool) -> Any:
        """Answer a message. Raises: RequestError."""
        try:
            if is_notification:
                if method == "session/cancel":
                    await self._cancel(_valid(schema.CancelNotification, params))
                return None
            if method in EXTENSIONS:
                self._require_token()
                return await EXTENSIONS[method](self._room, params)
            if method not in self._handlers:
                raise RequestError(-32601, f'"Method not found": {method}', {"method": method})
            model, handler = self._handlers[method]
            if method not in ("initialize", "authenticate"):
                self._require_token()
            return await handler(_valid(model, params))
        except (Refused, Lost) as exc:
            raise exc.to_error() from exc

    async def _send(self, method: str, params: Json) -> None:
        assert self._connection is not None
        await self._connection.send_notification(method, params)

    async def _ask(self, method: str, params: Json) -> Any:
        assert self._connection is not None
        return await self._connection.send_request(method, params)

    def _after_answer(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin when the answer of this request is written: it is, before the next task runs.

        Nothing may be awaited between this and the return.
        """
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(report)
        task.add_done_callback(self._later.discard)

    def _require_token(self) -> None:
        if not self._server.has_token:
            raise RequestError(
                -32000,
                "Authentication required: set OPENCODE_WEB_TOKEN to an API token of the server",
            )

    async def _initialize(self, request: schema.InitializeRequest) -> Json:
        capabilities = request.client_capabilities
        files = capabilities.fs if capabilities else None
        self._room.asks.editor_writes = bool(files and files.write_text_file)
        method: Json = {
            "id": AUTH_METHOD,
            "name": "API token of OpenCode Web",
            "description": "Make one at the server under your name → API tokens, and set "
            "OPENCODE_WEB_TOKEN for this command",
        }
        if capabilities and (capabilities.field_meta or {}).get("terminal-auth"):
            terminal = {"command": "opencode-web", "args": _LOGIN, "label": "Make an API token"}
            method["_meta"] = {"terminal-auth": terminal}
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentCapabilities": CAPABILITIES,
            "authMethods": [method],
            "agentInfo": {
                "name": "OpenCode Web",
                "title": f"OpenCode Web (files and commands are on {self._server.url})",
                "version": _version(),
            },
            "_meta": {"opencode": {"methods": sorted(EXTENSIONS), "files": "server"}},
        }

    async def _authenticate(self, request: schema.AuthenticateRequest) -> Json:
        if request.method_id != AUTH_METHOD:
            raise _invalid(f"unknown auth method: {request.method_id}", {})
        self._require_token()
        await self._server.call("GET", "/project")
        return {}

    async def _new(self, request: schema.NewSessionRequest) -> Json:
        session = await self._room.create(request.cwd)
        unused = [one.name for one in request.mcp_servers]
        answer = {"sessionId": session.id, **_opened(session)}
        self._after_answer(self._room.introduce(session, unused, is_new=True))
        return answer

    async def _load(self, request: schema.LoadSessionRequest) -> Json:
        session = await self._room.open(request.session_id, request.cwd)
        async with session.lock:
            await session.transcript.replay(await session.read_messages())
        unused = [one.name for one in request.mcp_servers]
        self._after_answer(self._room.introduce(session, unused))
        return _opened(session)

    async def _resume(self, request: schema.ResumeSessionRequest) -> Json:
        session = await self._room.open(request.session_id, request.cwd)
        async with session.lock:
            session.transcript.mark(await session.read_messages())
        unused = [one.name for one in request.mcp_servers or []]
        self._after_answer(self._room.introduce(session, unused))
        return _opened(session)

    async def _fork(self, request: schema.ForkSessionRequest) -> Json:
        session = await self._room.fork(request.session_id, request.cwd)
        async with session.lock:
            await session.transcript.replay(await session.read_messages())
        unused = [one.name for one in request.mcp_servers or []]
        self._after_answer(self._room.introduce(session, unused))
        return {"sessionId": session.id, **_opened(session)}

    async def _list(self, request: schema.ListSessionsRequest) -> Json:
        return await self._room.listing(request.cwd, request.cursor)

    async def _close(self, request: schema.CloseSessionRequest) -> Json:
        await self._room.forget(request.session_id)
        return {}

    async def _prompt(self, request: schema.PromptRequest) -> Json:
        return await turns.play(self._room.find(request.session_id), request.prompt)

    async def _cancel(self, request: schema.CancelNotification) -> None:
        session = self._room.sessions.get(request.session_id)
        if session is not None and session.turns:
            await turns.stop(session)

    async def _set_mode(self, request: schema.SetSessionModeRequest) -> Json:
        self._room.find(request.session_id).chosen.choose("mode", request.mode_id)
        return {}

    async def _set_model(self, request: SetModel) -> Json:
        session = self._room.find(request.session_id)
        session.chosen.choose_model(request.model_id)
        await self._tell_options(session)
        return {}

    async def _set_option(self, request: schema.SetSessionConfigOptionSelectRequest) -> Json:
        session = self._room.find(request.session_id)
        session.chosen.choose(request.config_id, request.value)
        if request.config_id == "model":
            await self._tell_options(session)
        return {"configOptions": session.chosen.options()}

    async def _tell_options(self, session: OpenSession) -> None:
        chosen: Chosen = session.chosen
        update = {"sessionUpdate": "config_option_update", "configOptions": chosen.options()}
        async with session.lock:
            await session.emit(update)


def _opened(session: OpenSession) -> Json:
    """Returns: what an editor is told of a session that it has opened."""
    told = {
        "files": "server",
        "project": session.place.project["id"],
        "directory": session.directory,
    }
    return {"configOptions": session.chosen.options(), "_meta": {"opencode": told}}


def _valid(model: type[Params], params: Any) -> Params:
    """Raises: RequestError."""
    try:
        valid = model.model_validate(params)
    except ValidationError as exc:
        told = exc.errors(include_url=False, include_input=False, include_context=False)
        raise RequestError(-32602, "Invalid params", {"errors": told}) from exc
    # The SDK leaves out what it cannot read of a list.
    for name in ("mcpServers", "prompt"):
        given = params.get(name) if isinstance(params, dict) else None
        kept = getattr(valid, {"mcpServers": "mcp_servers"}.get(name, name), None)
        if isinstance(given, list) and isinstance(kept, list) and len(given) != len(kept):
            raise _invalid(f"an element of {name} cannot be read", {"field": name})
    return valid


def _invalid(message: str, data: Json) -> RequestError:
    return RequestError(-32602, f"Invalid params: {message}", data)


def _version() -> str:
    try:
        return version("opencode-web-client")
    except PackageNotFoundError:
        # It runs from a checkout.
        return "0"
