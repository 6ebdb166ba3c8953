"""Open a pull request of what was pushed, and look at those that are open. On the network."""

from __future__ import annotations

import asyncio

from opencode_web.lib.db import in_db
from sessions.checkouts.pull_requests import note_opened, note_seen, note_unseen, stale_requests
from sessions.forges.adapter import AlreadyOpen, Forge, ForgeError, Pull, Wanted
from sessions.models import Checkout, PullRequest
from sessions.publish_settings import forge_of, publishing_of

# Somebody waits for the page meanwhile.
_LOOK_S = 8.0


async def open_request(checkout: Checkout, branch: str) -> str:
    """Open the one that is asked for; when the branch has an open one already, that is it.

    Returns: what came of it, for people. Raises: ForgeError.
    """
    forge = forge_of(await in_db(publishing_of, checkout.project))
    data = checkout.job_data
    wanted = Wanted(
        title=str(data["title"]),
        body=str(data["body"]),
        head=branch,
        base=str(data["base"]),
        draft=bool(data["draft"]),
    )
    # First, because a worker may have opened it and died.
    found = await forge.find(branch)
    pull = found or await _create(forge, wanted)
    await in_db(note_opened, checkout, branch, pull)
    if found:
        return f"The branch has an open pull request already: #{pull.number}."
    return f"Opened the pull request #{pull.number}."


async def _create(forge: Forge, wanted: Wanted) -> Pull:
    try:
        return await forge.create(wanted)
    except AlreadyOpen:
        found = await forge.find(wanted.head)
        if found is None:
            raise
        return found


async def refresh_requests(checkout: Checkout) -> None:
    """Look at the pull requests of a place again. What goes wrong is noted with each."""
    rows = await in_db(stale_requests, checkout)
    if not rows:
        return
    try:
        forge = forge_of(await in_db(publishing_of, checkout.project))
    except ForgeError as exc:
        for row in rows:
            await in_db(note_unseen, row, str(exc))
        return
    await asyncio.gather(*(_refresh(forge, row) for row in rows))


async def _refresh(forge: Forge, row: PullRequest) -> None:
    try:
        async with asyncio.timeout(_LOOK_S):
            pull = await forge.read(row.number)
    except TimeoutError:
        await in_db(note_unseen, row, "The forge did not answer in time.")
        return
    except ForgeError as exc:
        await in_db(note_unseen, row, str(exc))
        return
    if pull.url != row.url:
        # The project has moved: the same number is another pull request there.
        await in_db(note_unseen, row, "It is on another forge than the project is now.")
        return
    await in_db(note_seen, row, pull)
