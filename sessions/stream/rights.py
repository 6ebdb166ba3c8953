"""Who a connection that stays open belongs to, asked again while it is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from opencode_web.lib.db import in_view_db
from sessions.stream.hub import watch
from teams.access import access_group, user_group

# Sign-in and memberships are looked at again at least this often, and whenever one changes.
RECHECK_S = 30
# 1011 and 1012 would say it too, but autobahn lets no application send a code below 3000.
SIGNED_OUT, FORBIDDEN, GONE, FAILED, COME_BACK = 4401, 4403, 4404, 4011, 4012
T = TypeVar("T")


class Refused(Exception):
    """The connection is closed with this code; the browser does not come back on its own."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def keep_checking(
    check: Callable[[], T],
    *,
    team_id: str,
    user_id: int,
    found: Callable[[T], None] = lambda _: None,
) -> None:
    """Ask `check` on the database pool again and again, until it raises; `found` gets answers."""
    async with watch(access_group(team_id), user_group(user_id)) as changes:
        while True:
            # At once, too: what changed before this was entered has not been heard of.
            found(await in_view_db(check))
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await anext(changes)
