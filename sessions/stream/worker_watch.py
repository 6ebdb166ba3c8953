"""Whether a session that works has lost its worker, for the room that shows it.

A lease runs out without an event. So the room looks at it when it would run out, and once that has
happened every second until somebody has taken it.
"""

from __future__ import annotations

import asyncio

from django.utils import timezone

from opencode_web.lib.db import in_view_db
from sessions.models import Run, Session, State

LOOK_S = 1.0
# Clocks of two machines differ a little, and a busy one renews a little late.
_GRACE_S = 0.3


class WorkerWatch:
    """Of one session. `hear` says that something came of it."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._heard = asyncio.Event()
        # Not known at first: a page can be made just before the lease is taken.
        self._is_lost: bool | None = None

    def hear(self) -> None:
        self._heard.set()

    async def changed(self) -> bool:
        """Wait until the worker is lost, or there is one again. Returns: whether it is lost."""
        while True:
            self._heard.clear()
            left_s = await in_view_db(_lease_left_s, self._session_id)
            if left_s is None:
                # No worker is needed before something comes.
                self._is_lost = False
                await self._heard.wait()
                continue
            before, self._is_lost = self._is_lost, left_s <= 0
            if self._is_lost != before:
                return self._is_lost
            await asyncio.sleep(max(left_s + _GRACE_S, LOOK_S))


def _lease_left_s(session_id: str) -> float | None:
    """Returns: None while no worker has the session, and none has died with it."""
    works = Session.objects.filter(pk=session_id, state=State.BUSY, waits_for="")
    run = Run.objects.filter(session__in=works).exclude(owner="").first()
    if run is None:
        return None
    return (run.lease_until - timezone.now()).total_seconds() if run.lease_until else 0
