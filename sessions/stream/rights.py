"""Who a connection that stays open belongs to, asked again while it is open.

Changes of rights are announced on the bus, which may lose messages. So every `CHECK_S` the rights
behind all open connections of this process are read together, and a connection whose rights have
changed is told as if the bus had: it gets `ACCESS_CHANGED`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

from django.db import Error as DatabaseFault

from opencode_web.lib.db import in_view_db
from sessions.stream.hub import Subscription, watch
from teams.access import ACCESS_CHANGED, access_group, user_group
from teams.auth import Principal
from teams.standing import Rights, read_standings

logger = logging.getLogger(__name__)

# Who has lost a right has lost its connections 5 s later.
CHECK_S = 2.0
# What else a browser shows, such as a session that was deleted, is looked at this often.
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
    principal: Principal,
    team_id: str,
    found: Callable[[T], None] = lambda _: None,
) -> None:
    """Ask `check` on the database pool again and again, until it raises; `found` gets answers."""
    async with watch_rights(principal, access_group(team_id)) as changes:
        while True:
            # At once, too: what changed before this was entered has not been heard of.
            found(await in_view_db(check))
            with suppress(TimeoutError):
                async with asyncio.timeout(RECHECK_S):
                    await changes.take()


@asynccontextmanager
async def watch_rights(principal: Principal, *groups: str) -> AsyncIterator[Subscription]:
    """Like `hub.watch`, also of the person's own group. A change of the principal's rights comes as
    `ACCESS_CHANGED` within `CHECK_S` even if the bus loses it, and once without a change."""
    async with watch(user_group(principal.user.pk), *groups) as subscription:
        loop = asyncio.get_running_loop()
        watchers = _watchers.get(loop)
        if watchers is None or watchers.task.done():
            watchers = _watchers[loop] = _Watchers()
        watchers.principals[subscription] = principal
        try:
            yield subscription
        finally:
            del watchers.principals[subscription]
            if not watchers.principals:
                if _watchers.get(loop) is watchers:
                    del _watchers[loop]
                watchers.task.cancel()


class _Watchers:
    """The open connections of one event loop, and the task that looks after them."""

    def __init__(self) -> None:
        self.principals: dict[Subscription, Principal] = {}
        self._standings: dict[Subscription, Rights] = {}
        self.task = asyncio.create_task(self._keep_reading(), name="rights")

    async def _keep_reading(self) -> None:
        try:
            while True:
                await asyncio.sleep(CHECK_S)
                await self._read()
        finally:
            # Nobody stays connected unwatched; after an ordinary end there is nobody.
            for subscription in self.principals:
                subscription.close()

    async def _read(self) -> None:
        watched = dict(self.principals)
        try:
            standings = await in_view_db(read_standings, set(watched.values()))
        except DatabaseFault as exc:
            # Nobody's rights can change now, but what they signed in with can expire.
            logger.warning("rights.not_read connections=%d", len(watched), exc_info=exc)
            now = {each: self._standings[each] for each in watched if each in self._standings}
        else:
            now = {each: standings[principal] for each, principal in watched.items()}
        for subscription, standing in now.items():
            # One that is new is told, too: its rights may have changed since it was let in.
            if standing.is_expired or self._standings.get(subscription) != standing:
                subscription.put({"t": ACCESS_CHANGED})
        self._standings = now


_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watchers] = WeakKeyDictionary()
