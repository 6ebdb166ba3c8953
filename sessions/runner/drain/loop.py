from __future__ import annotations

from collections.abc import Callable

from opencode_web.lib.db import in_db
from sessions.runner.calls.tool_calls import run_step
from sessions.runner.context.remote import fetch_pages
from sessions.runner.drain.advance import advance, begin, settle_cancelled
from sessions.runner.drain.checkouts import prepare_checkout
from sessions.runner.drain.restore import run_restore
from sessions.runner.files.changes import stopped_summary
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import (
    CheckoutStep,
    McpListing,
    McpUpdates,
    PageFetch,
    ProviderTurn,
    RestoreStep,
    SkillFetch,
    Stopping,
    ToolDescriptions,
)
from sessions.runner.offers.custom_tools import describe_tools
from sessions.runner.offers.mcp_kept import give_up_waiting_calls
from sessions.runner.offers.mcp_tools import list_mcp_tools
from sessions.runner.offers.mcp_updates import read_updates
from sessions.runner.offers.skill_fetch import fetch_skills
from sessions.runner.turn.provider_turn import run_turn


async def drain(
    lease: Lease,
    *,
    leaves: Callable[[], bool],
    begun: Callable[[], None],
    runs_tools: Callable[[], None],
) -> None:
    """Do what the session requires until it is idle or suspended.

    Once `leaves` says that this process is about to end, no further step is begun. `begun` is
    called when the prompt to work on is the newest of the session, `runs_tools` before each step
    that can make the project's files grow.

    Raises: LeaseLost when another worker has taken over; then nothing more is written here.
    """
    step = await in_db(begin, lease)
    begun()
    while step is not None:
        held = frozenset[str]()
        if isinstance(step, ProviderTurn):
            events = await run_turn(step, lease)
        elif isinstance(step, PageFetch):
            events = []
            await fetch_pages(step.urls)
        elif isinstance(step, SkillFetch):
            events = []
            await fetch_skills(step.team_id, step.urls)
        elif isinstance(step, CheckoutStep):
            events = await prepare_checkout(step)
        elif isinstance(step, RestoreStep):
            await run_restore(step, lease)
            return
        elif isinstance(step, ToolDescriptions):
            events = []
            await describe_tools(step)
        elif isinstance(step, McpListing):
            events = []
            await list_mcp_tools(step)
        elif isinstance(step, McpUpdates):
            events = []
            await read_updates(step)
        elif isinstance(step, Stopping):
            events = await stopped_summary(step.session_id)
            await in_db(settle_cancelled, lease, events)
            give_up_waiting_calls(step.session_id)
            return
        else:
            runs_tools()
            events, held = await run_step(step, lease)
        counted = isinstance(step, ProviderTurn)
        step = await in_db(advance, lease, events, held=held, leaves=leaves(), counted=counted)
