"""The browser's websocket: the server's frames, one socket for each tab, nothing but pings back."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from django.contrib.auth.models import AnonymousUser

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from sessions.access import access_principal_team, access_session
from sessions.consumers.rights import (
    COME_BACK,
    FAILED,
    FORBIDDEN,
    SIGNED_OUT,
    Refused,
    is_own_origin,
    keep_checking,
)
from sessions.consumers.serving import ServingConsumer
from sessions.stream.hub import Overflow
from sessions.stream.listener import Ended, Listener, encode
from sessions.stream.rail import joined_rail
from sessions.stream.room import joined
from teams.auth import Principal, authenticate_user, is_live
from teams.browser import BrowserSession

logger = logging.getLogger(__name__)

HEARTBEAT_S = 15
# Frames on their way to one browser. It says after every 64 that it has taken them.
WINDOW_FRAMES = 256
_HEARTBEAT = encode({"k": "hb"})


class LiveConsumer(ServingConsumer):
    """`/ws/?team=…&session=…&after=…`: frames of the team, and of one session after a cursor."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as the base class
        super().__init__(*args, **kwargs)
        self._unacknowledged = 0
        self._acknowledged = asyncio.Event()

    async def connect(self) -> None:
        user = self.scope.get("user")
        await self.accept()
        if not is_own_origin(self.scope):
            await self.close(code=FORBIDDEN)
        elif user is None or isinstance(user, AnonymousUser):
            await self.close(code=SIGNED_OUT)
        else:
            query = parse_qs(self.scope["query_string"].decode("latin-1"))
            fields = {key: values[-1] for key, values in query.items()}
            browser = BrowserSession.of(self.scope["session"])
            principal = authenticate_user(user, browser=browser)
            self._serving = asyncio.create_task(self._serve(principal, fields))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser sends nothing but how many frames it has taken since it last said so."""
        if text_data and text_data.isdecimal() and len(text_data) < 6:
            self._unacknowledged = max(self._unacknowledged - int(text_data), 0)
            self._acknowledged.set()

    async def _serve(self, principal: Principal, fields: dict[str, str]) -> None:
        try:
            team_id = await in_db(check_access, principal, fields)
            await self._stream(principal, team_id, fields)
        except Refused as exc:
            await self.close(code=exc.code)
        except (Ended, Overflow, OSError):
            await self.close(code=COME_BACK)
        except Exception:  # one stream connection
            logger.exception(
                "live.failed user=%s session=%s", principal.user.pk, fields.get("session")
            )
            await self.close(code=FAILED)

    async def _stream(self, principal: Principal, team_id: str, fields: dict[str, str]) -> None:
        listener = Listener()
        session_id, after = fields.get("session"), fields.get("after", "")
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(joined_rail(team_id, listener))
            if session_id:
                cursor = int(after) if after.isdecimal() and len(after) < 16 else 0
                await stack.enter_async_context(joined(session_id, team_id, listener, after=cursor))
            # The first frame says that the socket was let in.
            listener.put(_HEARTBEAT)
            tasks = {
                asyncio.create_task(self._send_all(listener)),
                asyncio.create_task(_keep_alive(listener)),
                asyncio.create_task(
                    keep_checking(
                        partial(check_access, principal, fields),
                        team_id=team_id,
                        user_id=principal.user.pk,
                    )
                ),
            }
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
            done.pop().result()

    async def _send_all(self, listener: Listener) -> None:
        while True:
            text = await listener.get()
            # The server buffers without end what a browser does not take; the listener does not.
            while self._unacknowledged >= WINDOW_FRAMES:
                self._acknowledged.clear()
                await self._acknowledged.wait()
            self._unacknowledged += 1
            await self.send(text_data=text)


async def _keep_alive(listener: Listener) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        listener.put(_HEARTBEAT)


def check_access(principal: Principal, fields: dict[str, str]) -> str:
    """Returns: the id of the team whose list the person may see. Raises: Refused."""
    if not is_live(principal):
        raise Refused(SIGNED_OUT)
    try:
        if fields.get("session"):
            return access_session(principal, fields["session"]).project.team_id
        return access_principal_team(principal, fields.get("team", "")).team.pk
    except AppError as exc:
        raise Refused(FORBIDDEN) from exc
