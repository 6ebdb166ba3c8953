from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

from django.db.models.functions import Now
from django.http import HttpResponse, JsonResponse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid, Unavailable
from sessions.access import (
    TerminalAccess,
    access_terminal,
    access_watched_terminal,
    visible_terminals,
)
from sessions.actions.terminals import (
    START_S,
    TICKET_S,
    TerminalPlan,
    change_terminal,
    issue_ticket,
    open_terminal,
    remove_terminal,
)
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import Location, find_location, require_location
from sessions.models import Terminal
from sessions.stream.hub import Subscription, watch
from sessions.terminals.life import NEVER_BEGUN, forget_unstarted, load_started
from sessions.terminals.link import output_group
from sessions.terminals.shells import installed_shells
from sessions.wire import Pty, terminal_to_wire
from teams.models import Role

router = Router(tags=["pty"])

_POLL_S = 1.0
# A page of another site cannot send it without being asked for leave first.
_TICKET_HEADER = "x-opencode-ticket"

Word = Annotated[str, Field(max_length=32_768)]
Cells = Annotated[int, Field(gt=0, le=1000)]


class TerminalCreate(Schema):
    """A program on a terminal; without a command a login shell, in the folder of the project."""

    command: str = Field(default="", max_length=1000)
    args: list[Word] = Field(default_factory=list, max_length=1000)
    cwd: str = Field(default="", max_length=1000)
    title: str = Field(default="", max_length=1000)
    env: dict[str, str] = Field(default_factory=dict, max_length=500)

    def plan(self) -> TerminalPlan:
        return TerminalPlan(self.command, self.args, self.cwd, self.title, self.env)


class TerminalSize(Schema):
    """In characters."""

    rows: Cells
    cols: Cells


class TerminalPatch(Schema):
    """Only what is given changes."""

    title: str = Field(default="", max_length=1000)
    size: TerminalSize | None = None
    watchable: bool | None = None
    """Whether the members of the team may look on, without typing."""

    def cells(self) -> tuple[int, int] | None:
        return (self.size.rows, self.size.cols) if self.size else None


class Shell(TypedDict):
    path: str
    name: str
    acceptable: bool


class Ticket(TypedDict):
    ticket: str
    expires_in: int
    """Units: seconds."""


@router.get("/pty/shells", summary="Shells that a terminal can run")
def list_shells(request: ApiRequest) -> list[Shell]:
    return [
        {"path": one.path, "name": one.name, "acceptable": one.acceptable}
        for one in installed_shells()
    ]


@router.get("/pty", summary="Your open terminals of a project; to admins, everybody's")
def list_terminals(request: ApiRequest) -> list[Pty]:
    return open_terminals(request, find_location(request))


# Asynchronous like the other method of its path: it waits for a worker.
@router.post("/pty", auth=AsyncTokenOrCookie(), summary="Open a terminal in the sandbox")
async def post_terminal(request: ApiRequest, body: TerminalCreate) -> Pty:
    return terminal_to_wire(await start(request, body))


@router.get("/pty/{pty_id}", summary="One terminal; also one that ended within the last day")
def get_terminal(request: ApiRequest, pty_id: str) -> Pty:
    return terminal_to_wire(access_terminal(request.auth, pty_id).terminal)


@router.put("/pty/{pty_id}", summary="Rename or resize a terminal")
def put_terminal(request: ApiRequest, pty_id: str, body: TerminalPatch) -> Pty:
    access = own(request, pty_id)
    return terminal_to_wire(apply_patch(access, body))


@router.delete("/pty/{pty_id}", summary="End a terminal with all that runs in it")
def delete_terminal(request: ApiRequest, pty_id: str) -> bool:
    remove_terminal(access_terminal(request.auth, pty_id, need=Role.MEMBER))
    return True


@router.post("/pty/{pty_id}/connect-token", summary="A ticket that attaches a websocket, once")
def post_ticket(
    request: ApiRequest, pty_id: str, watch: bool = False
) -> Annotated[HttpResponse, Ticket]:
    return secret(ticket(request, pty_id, watch=watch))


@router.get("/pty/{pty_id}/connect", summary="The websocket of a terminal")
def connect(request: ApiRequest, pty_id: str, cursor: str = "", ticket: str = "") -> bool:
    own(request, pty_id)
    raise Invalid("Connect to this address with a WebSocket.")


def apply_patch(access: TerminalAccess, body: TerminalPatch) -> Terminal:
    """Change what is given."""
    return change_terminal(access, title=body.title, size=body.cells(), watchable=body.watchable)


def own(request: ApiRequest, pty_id: str) -> TerminalAccess:
    """Raises: NotFound; Forbidden."""
    return access_terminal(request.auth, pty_id, need=Role.MEMBER, own=True)


def ticket(request: ApiRequest, pty_id: str, *, watch: bool = False) -> Ticket:
    """Returns: `PtyTicketConnectToken`. Raises: Forbidden without the header."""
    access = access_watched_terminal(request.auth, pty_id) if watch else own(request, pty_id)
    if request.headers.get(_TICKET_HEADER) != "1":
        raise Forbidden(f"Send the header {_TICKET_HEADER}: 1 with this request.")
    return {"ticket": issue_ticket(access), "expires_in": TICKET_S}


def secret(data: Mapping[str, object]) -> HttpResponse:
    """Returns: an answer that nobody keeps."""
    return JsonResponse(data, headers={"Cache-Control": "no-store"})


def open_terminals(request: ApiRequest, location: Location | None) -> list[Pty]:
    """Returns: what is open in the named folder, the oldest first."""
    if location is None:
        return []
    rows = visible_terminals(request.auth).filter(
        project=location.project, folder=location.folder, lease_until__gt=Now()
    )
    rows = rows.exclude(status=Terminal.Status.EXITED)
    return [terminal_to_wire(row) for row in rows.order_by("created_at", "pk")]


async def start(request: ApiRequest, body: TerminalCreate) -> Terminal:
    """Open a terminal and wait until its program runs.

    Raises: Invalid when it could not be started; Unavailable when no worker took it.
    """
    terminal = await in_db(_open, request, body)
    async with watch(output_group(terminal.pk)) as bodies:
        end = asyncio.get_running_loop().time() + START_S
        while (now := await in_db(load_started, terminal.pk)) is None:
            if asyncio.get_running_loop().time() > end:
                break
            await _next(bodies)
    if now is not None and now.pid:
        return now
    await in_db(forget_unstarted, terminal.pk)
    raise Unavailable(NEVER_BEGUN) if now is None else Invalid(now.detail)


def _open(request: ApiRequest, body: TerminalCreate) -> Terminal:
    location = require_location(request, need=Role.MEMBER)
    return open_terminal(
        location.access, body.plan(), directory=location.directory, folder=location.folder
    )


async def _next(bodies: Subscription) -> None:
    """Wait until the worker says something; it may get lost."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_POLL_S):
            await anext(bodies)
