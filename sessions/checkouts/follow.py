"""Bring a session's worktree to the newest commit of the pull request that it works on."""

from __future__ import annotations

import logging

from opencode_web.lib.db import in_db
from sessions.checkouts.fetch import fetch
from sessions.checkouts.jobs import open_all
from sessions.checkouts.operations import Repositories, count_dirty
from sessions.checkouts.repository import CheckoutError
from sessions.checkouts.rescue import BASE_REF, NEWER_REF
from sessions.checkouts.rows import note_followed, wanted_of
from sessions.git.places import locked, project_home
from sessions.models import Checkout

logger = logging.getLogger(__name__)


async def follow(checkout: Checkout) -> None:
    """Fetch the commit, and check it out unless there are changes or commits of its own.

    A turn begins whatever comes of it: its prompt says how the agent finds out.
    """
    moved = False
    try:
        async with locked(project_home(checkout.project_id), "store"):
            moved = await _move(checkout, await open_all(checkout))
    except CheckoutError as exc:
        logger.info("checkout.not_followed checkout=%s why=%s", checkout.pk, exc)
    await in_db(note_followed, checkout, moved=moved)


async def _move(checkout: Checkout, repositories: Repositories) -> bool:
    """Returns: False where it was left as it is. Raises: CheckoutError."""
    store, own, commit = repositories.store, repositories.checkout, checkout.follows
    wanted = await in_db(wanted_of, checkout)
    if await store.find(commit) is None and wanted.remote is not None:
        newer = f"{NEWER_REF}{checkout.pk}"
        await fetch(store, wanted.remote, checkout.fetch, keep_as=newer)
    is_own = await own.find("HEAD") != checkout.base or await count_dirty(own)
    if is_own or await store.find(commit) is None:
        return False
    await store.ask("update-ref", "--no-deref", f"{BASE_REF}{checkout.pk}", commit, writes=True)
    await own.ask("reset", "--quiet", "--hard", commit, writes=True)
    if checkout.base_branch and checkout.base_branch != await own.branch():
        base = f"refs/heads/{checkout.base_branch}"
        await own.ask("update-ref", "--no-deref", base, commit, writes=True)
    return True
