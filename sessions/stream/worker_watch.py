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
        # Whether it is lost, and its token. Not known at first, nor which of them a page shows.
        self._seen: tuple[bool, int] | None = None

    @property
    def is_lost(self) -> bool:
        """As it was seen last; what was not seen yet is told by `changed`."""
        return self._seen is not None and self._seen[0]

    def hear(self) -> None:
        self._heard.set()

    async def changed(self) -> None:
        """Wait until the worker is lost, or another has the session."""
        while True:
            self._heard.clear()
            run = await in_view_db(_held_run, self._session_id)
            if run is None:
                # No worker is needed before something comes.
                await self._heard.wait()
                continue
            left_s = _left_s(run)
            before, self._seen = self._seen, (left_s <= 0, run.token)
            if self._seen != before:
                return
            await asyncio.sleep(max(left_s + _GRACE_S, LOOK_S))


def _held_run(session_id: str) -> Run | None:
    """Returns: None while no worker has the session, and none has died with it."""
    works = Session.objects.filter(pk=session_id, state=State.BUSY, waits_for="")
    return Run.objects.filter(session__in=works).exclude(owner="").first()


def _left_s(run: Run) -> float:
    return (run.lease_until - timezone.now()).total_seconds() if run.lease_until else 0
