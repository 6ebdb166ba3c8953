from __future__ import annotations

from collections.abc import Sequence

from opencode_web.lib.db import in_db
from sessions.events.types import SessionEvent
from sessions.runner.advance import advance, recover
from sessions.runner.lease import Lease
from sessions.runner.steps import ProviderTurn
from sessions.runner.tool_calls import run_step
from sessions.runner.turn import run_turn


async def drain(lease: Lease) -> None:
    """Do what the session requires until it is idle or parked.

    Raises: LeaseLost when another worker has taken over; then nothing more is written here.
    """
    await in_db(recover, lease)
    events: Sequence[SessionEvent] = ()
    while (step := await in_db(advance, lease, events)) is not None:
        if isinstance(step, ProviderTurn):
            events = await run_turn(step, lease)
        else:
            events = await run_step(step, lease)
