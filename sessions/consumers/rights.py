"""Who a socket belongs to, asked again while it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

from opencode_web.lib.db import in_db
from sessions.stream.hub import watch
from teams.access import access_group, user_group

# Sign-in and memberships are looked at again at least this often, and whenever one changes.
RECHECK_S = 30
# 1011 and 1012 would say it too, but autobahn lets no application send a code below 3000.
SIGNED_OUT, FORBIDDEN, FAILED, COME_BACK = 4401, 4403, 4011, 4012


class Refused(Exception):
    """The socket is closed with this code; the browser does not come back on its own."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def keep_checking(check: Callable[[], object], *, team_id: str, user_id: int) -> None:
    """Ask `check` on the database pool again and again, until it raises."""
    async with watch(access_group(team_id), user_group(user_id)) as changes:
        while True:
            # At once, too: what changed before this was entered has not been heard of.
            await in_db(check)
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await anext(changes)


def origin_of(scope: dict[str, Any]) -> str:  # as ASGI types it
    """Returns: what a browser says of the page that opened the socket; empty for others."""
    return _header(scope, b"origin")


def is_own_origin(scope: dict[str, Any]) -> bool:  # as ASGI types it
    """Whether a page of this server opened the socket: cookies alone would let any page do it."""
    origin = origin_of(scope)
    if not origin:
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS or (
        settings.PUBLIC_URL and origin == settings.PUBLIC_URL
    ):
        return True
    host = _header(scope, b"host")
    name = urlsplit(f"//{host}").hostname or ""
    allowed = settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1"]
    return urlsplit(origin).netloc == host and validate_host(
        f"[{name}]" if ":" in name else name, allowed
    )


def _header(scope: dict[str, Any], name: bytes) -> str:
    values = [value for key, value in scope.get("headers", []) if key == name]
    return str(values[-1].decode("latin-1")) if values else ""
