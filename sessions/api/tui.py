"""Steer your own terminals: every client of the same person hears of it on its event stream."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from django.http import HttpResponse, JsonResponse
from ninja import Body, Field, Query, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.public_url import without_base
from sessions.access import access_session
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.stream.terminal_clients import next_request, tell_clients
from teams.models import Scope

router = Router(tags=["tui"])

MAX_CHARS = 100_000
# A client that waits longer asks again.
MAX_WAIT_S = 3600.0


class AppendPrompt(Schema):
    """Text for the prompt."""

    text: str = Field(max_length=MAX_CHARS)


class ExecuteCommand(Schema):
    """A command of the terminal's own, such as `session.new` or `agent.cycle`."""

    command: str = Field(max_length=200)


class Toast(Schema):
    """A short message. Units: `duration` in milliseconds."""

    title: str | None = Field(default=None, max_length=200)
    message: str = Field(max_length=2_000)
    variant: Literal["info", "success", "warning", "error"]
    duration: Annotated[int, Field(gt=0)] | None = None


class SelectSession(Schema):
    """A session."""

    sessionID: str


class PromptAppendEvent(Schema):
    type: Literal["tui.prompt.append"]
    properties: AppendPrompt


class CommandExecuteEvent(Schema):
    type: Literal["tui.command.execute"]
    properties: ExecuteCommand


class ToastShowEvent(Schema):
    type: Literal["tui.toast.show"]
    properties: Toast


class SessionSelectEvent(Schema):
    type: Literal["tui.session.select"]
    properties: SelectSession


TuiEvent = Annotated[
    PromptAppendEvent | CommandExecuteEvent | ToastShowEvent | SessionSelectEvent,
    Body(discriminator="type"),
]
# Routes without a body, as the commands that they stand for. Source: OpenCode's HTTP API.
COMMANDS = {
    "open-help": "help.show",
    "open-sessions": "session.list",
    "open-themes": "theme.switch",
    "open-models": "model.list",
    "submit-prompt": "prompt.submit",
    "clear-prompt": "prompt.clear",
}


class TuiRequest(TypedDict):
    path: str
    body: JsonValue


def _tell(request: ApiRequest, kind: str, body: Schema) -> bool:
    properties: JsonObject = body.model_dump(exclude_none=True)
    request.auth.require(Scope.WRITE)
    tell_clients(request.auth.user, kind, properties, path=without_base(request.path))
    return True


@router.post("/tui/append-prompt", summary="Write into the prompt")
def append_prompt(request: ApiRequest, body: AppendPrompt) -> bool:
    return _tell(request, "tui.prompt.append", body)


@router.post("/tui/execute-command", summary="Run a command of the terminal")
def execute_command(request: ApiRequest, body: ExecuteCommand) -> bool:
    return _tell(request, "tui.command.execute", body)


@router.post("/tui/show-toast", summary="Show a short message")
def show_toast(request: ApiRequest, body: Toast) -> bool:
    return _tell(request, "tui.toast.show", body)


@router.post("/tui/select-session", summary="Open a session")
def select_session(request: ApiRequest, body: SelectSession) -> bool:
    access_session(request.auth, body.sessionID)
    return _tell(request, "tui.session.select", body)


@router.post("/tui/publish", summary="Any of these events, as it is on the stream")
def publish_event(request: ApiRequest, body: TuiEvent) -> bool:
    if isinstance(body, SessionSelectEvent):
        access_session(request.auth, body.properties.sessionID)
    return _tell(request, body.type, body.properties)


def run_named(request: ApiRequest) -> bool:
    name = request.path.rstrip("/").rpartition("/")[2]
    return _tell(request, "tui.command.execute", ExecuteCommand(command=COMMANDS[name]))


for name, command in COMMANDS.items():
    router.add_api_operation(
        f"/tui/{name}",
        ["POST"],
        run_named,
        summary=f"The same as the command {command}",
        operation_id=f"tui_{name.replace('-', '_')}",
    )


@router.get(
    "/tui/control/next",
    auth=AsyncTokenOrCookie(),
    response={204: None},
    summary="Wait for the next of these requests, in place of a terminal",
)
async def control_next(
    request: ApiRequest,
    wait: Annotated[
        float, Query(ge=0, le=MAX_WAIT_S, description="Seconds; then 204")
    ] = MAX_WAIT_S,
) -> Annotated[HttpResponse, TuiRequest]:
    try:
        async with asyncio.timeout(wait):
            return JsonResponse(await next_request(request.auth))
    except TimeoutError:
        return HttpResponse(status=204)


@router.post("/tui/control/response", summary="Taken, and of no use: nobody waits for it")
def control_response(request: ApiRequest, body: Body[JsonValue] = None) -> bool:
    return True
