"""`/pty/<id>/connect?cursor=…&ticket=…`: what a terminal shows, and what its person types.

Source: OpenCode's HTTP API. Ours are `watch=1`, to look on without typing, and `counts=1`: then
the client sends binary frames of a zero byte and `{"taken": n}`, in UTF-16 units, and no more than
a window is on its way to it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.asgi import ASGIRequest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, NotFound
from sessions.access import TerminalAccess, access_terminal, access_watched_terminal
from sessions.actions.terminals import take_ticket
from sessions.consumers.origin import is_own_origin, origin_of
from sessions.consumers.serving import ServingConsumer
from sessions.models import Terminal
from sessions.stream.attachment import Attachment, Exited, ReadOnly, TooMuchTyped
from sessions.stream.hub import Overflow, Subscription, watch
from sessions.stream.rights import (
    COME_BACK,
    FAILED,
    FORBIDDEN,
    GONE,
    SIGNED_OUT,
    Refused,
    keep_checking,
)
from sessions.terminals.lease import LEASE_S
from sessions.terminals.link import output_group
from teams.auth import Principal, authenticate_header, authenticate_user, is_live
from teams.browser import BrowserSession
from teams.http import client_ip
from teams.models import Role
from teams.policy import sign_in_of

logger = logging.getLogger(__name__)

ENDED, TYPED_TOO_MUCH = 1000, 4009
_REPEAT_S = 0.5
_MAX_CURSOR = 2**53


@dataclass(frozen=True)
class Admitted:
    """Somebody may attach."""

    principal: Principal
    terminal_id: str
    team_id: str
    watching: bool = False


class TerminalConsumer(ServingConsumer):
    """One socket on one terminal. Who may not attach is refused before it is accepted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as the base class
        super().__init__(*args, **kwargs)
        self._attachment: Attachment | None = None

    async def connect(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        ticket = query.get("ticket", [""])[-1]
        terminal_id = self.scope["url_route"]["kwargs"]["terminal_id"]
        try:
            watch = query.get("watch", [""])[-1] == "1"
            admitted = await in_db(admit, self.scope, terminal_id, ticket=ticket, watch=watch)
        except AppError:
            # Before it is accepted this is an answer with 403.
            await self.close()
            return
        await self.accept()
        self._attachment = Attachment(
            terminal_id,
            _cursor(query.get("cursor", [""])[-1]),
            counts=query.get("counts", [""])[-1] == "1",
            watching=admitted.watching,
        )
        self._serving = asyncio.create_task(self._serve(admitted, self._attachment))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """What somebody types, as text or as bytes."""
        text = text_data if text_data is not None else (bytes_data or b"").decode(errors="replace")
        if self._attachment is None or not text:
            return
        if self._attachment.counts and bytes_data is not None and bytes_data[:1] == b"\0":
            self._attachment.taken(_taken(bytes_data[1:]))
            return
        try:
            self._attachment.type(text)
        except TooMuchTyped:
            await self.close(code=TYPED_TOO_MUCH)
        except ReadOnly:
            await self.close(code=FORBIDDEN)

    async def _serve(self, admitted: Admitted, attachment: Attachment) -> None:
        try:
            code = await self._stream(admitted, attachment)
        except Refused as exc:
            code = exc.code
        except (Overflow, OSError):
            # It comes back with its cursor, and gets what it missed.
            code = COME_BACK
        except Exception:  # one stream connection
            logger.exception("terminal.socket_failed terminal=%s", admitted.terminal_id)
            code = FAILED
        await self.close(code=code)

    async def _stream(self, admitted: Admitted, attachment: Attachment) -> int:
        check = partial(check_attached, admitted)
        async with watch(output_group(admitted.terminal_id)) as bodies:
            attachment.begin()
            tasks = {
                asyncio.create_task(self._show(bodies, attachment)),
                asyncio.create_task(_repeat(attachment, check)),
                asyncio.create_task(
                    keep_checking(check, principal=admitted.principal, team_id=admitted.team_id)
                ),
            }
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
            done.pop().result()
        return ENDED

    async def _show(self, bodies: Subscription, attachment: Attachment) -> None:
        async for body in bodies:
            for frame in attachment.take(body):
                match frame:
                    case Exited():
                        return
                    case str():
                        await self.send(text_data=frame)
                    case bytes():
                        await self.send(bytes_data=frame)


async def _repeat(attachment: Attachment, check: partial[None]) -> None:
    while True:
        await asyncio.sleep(_REPEAT_S)
        attachment.repeat()
        if time.monotonic() - attachment.heard_at > LEASE_S:
            # It says something every two seconds, while its worker is there and the bus works.
            attachment.heard_at = time.monotonic()
            await in_db(check)


def admit(scope: dict[str, Any], terminal_id: str, *, ticket: str, watch: bool = False) -> Admitted:
    """Find out who it is. Raises: AppError for whoever may not attach."""
    principal = _principal_of(scope, terminal_id, ticket)
    if principal is None:
        raise NotFound("Terminal", terminal_id)
    access = _access(principal, terminal_id, watching=watch)
    if access.terminal.status == Terminal.Status.EXITED:
        raise NotFound("Terminal", terminal_id)
    return Admitted(principal, terminal_id, access.team.team.pk, watch)


def _access(principal: Principal, terminal_id: str, *, watching: bool) -> TerminalAccess:
    if watching:
        return access_watched_terminal(principal, terminal_id)
    return access_terminal(principal, terminal_id, need=Role.MEMBER, own=True)


def check_attached(admitted: Admitted) -> None:
    """Raises: Refused when the person has lost the right, or the terminal has ended."""
    if not is_live(admitted.principal):
        raise Refused(SIGNED_OUT)
    try:
        access = _access(admitted.principal, admitted.terminal_id, watching=admitted.watching)
    except NotFound as exc:
        raise Refused(GONE) from exc
    except AppError as exc:
        raise Refused(FORBIDDEN) from exc
    if access.terminal.status == Terminal.Status.EXITED:
        raise Refused(ENDED)


def _principal_of(scope: dict[str, Any], terminal_id: str, ticket: str) -> Principal | None:
    # Browsers send Basic credentials along from any page: those of other sites need a ticket.
    origin = origin_of(scope)
    listed = bool(ticket) and origin in settings.CORS_ORIGINS
    if origin and not listed and not is_own_origin(scope):
        return None
    if ticket:
        return take_ticket(ticket, terminal_id)
    request = ASGIRequest({**scope, "type": "http", "method": "GET"}, BytesIO())
    header = request.headers.get("Authorization")
    if header:
        return authenticate_header(header, ip=client_ip(request))
    user = scope.get("user")
    if user is None or isinstance(user, AnonymousUser) or not is_own_origin(scope):
        return None
    user.sign_in = sign_in_of(scope["session"], user)
    return authenticate_user(user, browser=BrowserSession.of(scope["session"]))


def _taken(data: bytes) -> int:
    """Returns: what a client says it has taken; nothing of what cannot be read."""
    try:
        given = json.loads(data)
    except ValueError:
        return 0
    taken = given.get("taken") if isinstance(given, dict) else None
    return taken if isinstance(taken, int) and taken > 0 else 0


def _cursor(text: str) -> int:
    if text == "-1":
        return -1
    return int(text) if text.isdecimal() and len(text) < 17 and int(text) < _MAX_CURSOR else 0
