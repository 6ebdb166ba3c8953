from __future__ import annotations

from typing import Annotated

from django.http import HttpResponse
from ninja import Router

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from sessions.access import ProjectAccess, TerminalAccess, access_terminal
from sessions.actions.terminals import remove_terminal
from sessions.api import terminals as classic
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import Location, require_location
from sessions.api.terminals import TerminalCreate, TerminalPatch, Ticket
from sessions.api.v2.place import Placed, placed
from sessions.models import Terminal
from sessions.wire import Pty, terminal_to_wire
from teams.models import Role

router = Router(tags=["pty"])


@router.get("/api/pty", summary="Your open terminals of a place; to admins, everybody's")
def list_terminals(request: ApiRequest) -> Placed[list[Pty]]:
    location = require_location(request)
    return placed(location, classic.open_terminals(request, location))


@router.post("/api/pty", auth=AsyncTokenOrCookie(), summary="Open a terminal in the sandbox")
async def post_terminal(request: ApiRequest, body: TerminalCreate) -> Placed[Pty]:
    terminal = await classic.start(request, body)
    return await in_db(_answer_for, request, terminal)


@router.get("/api/pty/{pty_id}", summary="One terminal; also one that ended within the last day")
def get_terminal(request: ApiRequest, pty_id: str) -> Placed[Pty]:
    return _answer(access_terminal(request.auth, pty_id))


@router.put("/api/pty/{pty_id}", summary="Rename or resize a terminal")
def put_terminal(request: ApiRequest, pty_id: str, body: TerminalPatch) -> Placed[Pty]:
    access = classic.own(request, pty_id)
    terminal = classic.apply_patch(access, body)
    return _answer(TerminalAccess(terminal, access.team, access.principal))


@router.delete("/api/pty/{pty_id}", response={204: None}, summary="End a terminal")
def delete_terminal(request: ApiRequest, pty_id: str) -> HttpResponse:
    remove_terminal(access_terminal(request.auth, pty_id, need=Role.MEMBER))
    return HttpResponse(status=204)


@router.post("/api/pty/{pty_id}/connect-token", summary="A ticket that attaches a websocket, once")
def post_ticket(request: ApiRequest, pty_id: str) -> Annotated[HttpResponse, Placed[Ticket]]:
    given = classic.ticket(request, pty_id)
    return classic.secret({**_answer(access_terminal(request.auth, pty_id)), "data": given})


@router.get("/api/pty/{pty_id}/connect", summary="The websocket of a terminal")
def connect(request: ApiRequest, pty_id: str, cursor: str = "", ticket: str = "") -> bool:
    classic.own(request, pty_id)
    raise Invalid("Connect to this address with a WebSocket.")


def _answer_for(request: ApiRequest, terminal: Terminal) -> Placed[Pty]:
    return _answer(access_terminal(request.auth, terminal.pk))


def _answer(access: TerminalAccess) -> Placed[Pty]:
    terminal = access.terminal
    project = ProjectAccess(terminal.project, access.team, access.principal)
    location = Location(project, terminal.directory, terminal.folder)
    return placed(location, terminal_to_wire(terminal))
