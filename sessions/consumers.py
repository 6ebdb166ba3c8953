"""The browser's websocket: the server's frames, one socket for each tab, nothing but pings back."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from channels.auth import AuthMiddlewareStack
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import URLRouter
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http.request import validate_host
from django.urls import path

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from sessions.access import access_principal_team, access_session
from sessions.stream.hub import Overflow, watch
from sessions.stream.listener import Ended, Listener, encode
from sessions.stream.rail import joined_rail
from sessions.stream.room import joined
from teams.access import access_group, user_group
from teams.auth import Principal, authenticate_user, is_live
from teams.browser import BrowserSession

logger = logging.getLogger(__name__)

HEARTBEAT_S = 15
# Frames on their way to one browser. It says after every 64 that it has taken them.
WINDOW_FRAMES = 256
# Sign-in and memberships are looked at again at least this often, and whenever one changes.
RECHECK_S = 30
# 1011 and 1012 would say it too, but autobahn lets no application send a code below 3000.
SIGNED_OUT, FORBIDDEN, FAILED, COME_BACK = 4401, 4403, 4011, 4012
_HEARTBEAT = encode({"k": "hb"})


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels ships no types
    """`/ws/?team=…&session=…&after=…`: frames of the team, and of one session after a cursor."""

    # This class subscribes through the hub; a channel of its own would be one more for each socket.
    channel_layer_alias = "none"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as the base class
        super().__init__(*args, **kwargs)
        self._serving: asyncio.Task[None] | None = None
        self._unacknowledged = 0
        self._acknowledged = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # as ASGI types them
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            # The server stops: without a code of its own, browsers would see a fault.
            await send({"type": "websocket.close", "code": COME_BACK})
            raise
        finally:
            if self._serving is not None:
                self._serving.cancel()

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
                asyncio.create_task(self._recheck(principal, team_id, fields)),
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

    async def _recheck(self, principal: Principal, team_id: str, fields: dict[str, str]) -> None:
        async with watch(access_group(team_id), user_group(principal.user.pk)) as changes:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(RECHECK_S):
                        await anext(changes)
                await in_db(check_access, principal, fields)


async def _keep_alive(listener: Listener) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_S)
        listener.put(_HEARTBEAT)


class Refused(Exception):
    """The socket is closed with this code; the browser does not come back on its own."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


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


def is_own_origin(scope: dict[str, Any]) -> bool:
    """Whether a page of this server opened the socket: cookies alone would let any page do it."""
    headers = {name: value.decode("latin-1") for name, value in scope.get("headers", [])}
    origin = headers.get(b"origin", "")
    if not origin:
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS or (
        settings.PUBLIC_URL and origin == settings.PUBLIC_URL
    ):
        return True
    host = headers.get(b"host", "")
    name = urlsplit(f"//{host}").hostname or ""
    allowed = settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1"]
    return urlsplit(origin).netloc == host and validate_host(
        f"[{name}]" if ":" in name else name, allowed
    )


websocket_application = AuthMiddlewareStack(URLRouter([path("ws/", LiveConsumer.as_asgi())]))
