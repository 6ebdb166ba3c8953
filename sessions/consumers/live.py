"""The browser's websocket: the server's frames, one socket for each tab, hardly anything back."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs

from autobahn.exception import Disconnected
from django.contrib.auth.models import AnonymousUser

from sessions.consumers.origin import is_own_origin
from sessions.consumers.serving import ServingConsumer
from sessions.stream.browser import BrowserStream, Watched
from sessions.stream.hub import Overflow
from sessions.stream.listener import Ended
from sessions.stream.rights import COME_BACK, FAILED, FORBIDDEN, SIGNED_OUT, Refused
from teams.auth import authenticate_user
from teams.browser import BrowserSession
from teams.policy import sign_in_of

logger = logging.getLogger(__name__)

# Frames on their way to one browser. It says after every 64 that it has taken them.
WINDOW_FRAMES = 256


class LiveConsumer(ServingConsumer):
    """`/ws/?team=…&session=…&after=…&lang=…`: frames of the team, and of one session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as the base class
        super().__init__(*args, **kwargs)
        self._unacknowledged = 0
        self._acknowledged = asyncio.Event()
        self._stream: BrowserStream | None = None

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
            user.sign_in = sign_in_of(self.scope["session"], user)
            principal = authenticate_user(user, browser=browser)
            self._stream = BrowserStream(principal, Watched.of(fields))
            self._serving = asyncio.create_task(self._serve(self._stream, user.pk))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser says how many frames it has taken since it last said so, and that somebody
        looks or writes."""
        if text_data in ("seen", "typing") and self._stream is not None:
            self._stream.seen(typing=text_data == "typing")
        elif text_data and text_data.isdecimal() and len(text_data) < 6:
            self._unacknowledged = max(self._unacknowledged - int(text_data), 0)
            self._acknowledged.set()

    async def _serve(self, stream: BrowserStream, user_id: int) -> None:
        try:
            async with aclosing(stream.frames()) as frames:
                async for text in frames:
                    await self._send(text)
        except Refused as exc:
            await self.close(code=exc.code)
        except Disconnected:  # the browser has gone, and the server has not been told yet
            pass
        except (Ended, Overflow, OSError):
            await self.close(code=COME_BACK)
        except Exception:  # one stream connection
            logger.exception("live.failed user=%s", user_id)
            await self.close(code=FAILED)

    async def _send(self, text: str) -> None:
        # The server buffers without end what a browser does not take; the listener does not.
        while self._unacknowledged >= WINDOW_FRAMES:
            self._acknowledged.clear()
            await self._acknowledged.wait()
        self._unacknowledged += 1
        await self.send(text_data=text)
