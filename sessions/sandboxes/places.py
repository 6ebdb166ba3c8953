"""How many commands of a team run at the same time, on all workers together.

Each command that starts takes a number, and runs once fewer are before it than the team may have.
It is gone with the lease of its session, so those of a dead worker keep nobody waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from zlib import crc32

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.db import in_db, lock_until_commit
from sessions.models import Run, RunningCommand
from tools.sandbox.process import finish

# Any number that no other advisory lock of ours has; the low half is the team's.
_TEAM_LOCKS = 0x6F63_7401 << 31
# Who waits looks so often without being told: messages may be lost, and leases run out.
_LOOKS_S = 1.0


@dataclass(frozen=True)
class TeamPlaces:
    """Lets a command of a session run beside fewer than `most` others of the team."""

    session_id: str
    team_id: str
    most: int

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Wait for a place, who came first before others, and give it back at the end."""
        # Half a call cannot be cancelled: the row would be there, and nobody would remove it.
        number, cancelled = await finish(in_db(self._take_number))
        try:
            if cancelled is not None:
                raise cancelled
            await self._wait(number)
            yield
        finally:
            _, cancelled = await finish(in_db(RunningCommand.objects.filter(pk=number).delete))
            publish(self._group, {"t": "command ended"})
            if cancelled is not None:
                raise cancelled

    @property
    def _group(self) -> str:
        return f"commands.{self.team_id}"

    @transaction.atomic
    def _take_number(self) -> int:
        # Without it one with a lower number could be committed after this has counted.
        lock_until_commit(_TEAM_LOCKS + crc32(self.team_id.encode()) // 2)
        of_team = RunningCommand.objects.filter(team=self.team_id)
        of_team.exclude(run__token=F("token")).delete()
        token = Run.objects.values_list("token", flat=True).get(pk=self.session_id)
        made = of_team.create(team_id=self.team_id, run_id=self.session_id, token=token)
        return made.pk

    async def _wait(self, number: int) -> None:
        while not await in_db(self._may_run, number):
            try:
                async with asyncio.timeout(_LOOKS_S), subscribe(self._group) as ends:
                    # One may have ended since.
                    if not await in_db(self._may_run, number):
                        await anext(ends)
            except TimeoutError:
                pass
            except OSError:
                await asyncio.sleep(_LOOKS_S)

    def _may_run(self, number: int) -> bool:
        before = RunningCommand.objects.filter(
            team=self.team_id,
            pk__lt=number,
            run__token=F("token"),
            run__lease_until__gte=Now(),
        )
        return before.count() < self.most
