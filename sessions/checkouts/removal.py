"""Remove the checkouts of projects and sessions that are gone, after rescuing their work."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

from sessions.checkouts.create import clear_drafts, known_commits, remove_tree
from sessions.checkouts.repository import CheckoutError, Repository, open_checkout, open_project
from sessions.checkouts.rescue import BASE_REF, RESCUE_REF, keep, rescue, rescue_ref
from sessions.git.places import locked, project_home, rescued_root, store_of

logger = logging.getLogger(__name__)


async def remove_checkouts(project_id: str, directory: str = "") -> None:
    """Rescue and remove every checkout of a project that is gone.

    Rescued work goes into the repository in `directory` if that stays, else into a bare repository
    of its own below `rescued`. A checkout that cannot be rescued stays where it is.
    """
    home, store = project_home(project_id), await _store(project_id)
    if store is None:
        return
    project = await _project(directory)
    async with locked(home, "store"):
        whole = True
        for path in sorted(home.glob("ses_*")):
            whole = await _remove_home(path, store, project) and whole
        found = await store.ask("for-each-ref", "--format=%(refname)", RESCUE_REF)
        if not whole:
            return
        if found.strip() and project is None:
            await asyncio.to_thread(_keep_store, project_id)
            logger.warning("checkouts.rescued project=%s path=%s", project_id, rescued_root())
    await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)


async def remove_left(project_id: str, session_ids: list[str]) -> None:
    """Rescue and remove checkouts of a project that no row knows any more."""
    store = await _store(project_id)
    if store is None:
        return
    home = project_home(project_id)
    async with locked(home, "store"):
        for session_id in session_ids:
            await _remove_home(home / session_id, store, None)


async def _store(project_id: str) -> Repository | None:
    git_dir = store_of(project_id)
    if not git_dir.is_dir():
        return None
    said = await Repository(git_dir).ask("rev-parse", "--show-object-format")
    return Repository(git_dir, object_format=said.strip())


async def _project(directory: str) -> Repository | None:
    try:
        return await open_project(directory) if directory else None
    except CheckoutError:
        return None


async def _remove_home(home: Path, store: Repository, project: Repository | None) -> bool:
    """Returns: whether it is gone."""
    await asyncio.to_thread(clear_drafts, home)
    session_id = home.name
    for folder in [path for path in home.iterdir() if path.is_dir()]:
        checkout = open_checkout(home.parent.name, folder, store.object_format)
        try:
            rescued = await rescue(checkout, title=session_id)
            base = await store.find(f"{BASE_REF}{session_id}")
            if rescued.commit != base:
                await checkout.send(rescued.commit, store, known=await known_commits(store))
                await keep(store, project, rescue_ref(session_id), rescued.commit)
        except CheckoutError as exc:
            logger.warning("checkouts.kept path=%s %s", folder, exc)
            return False
    await asyncio.to_thread(remove_tree, home)
    return True


def _keep_store(project_id: str) -> None:
    target = rescued_root() / f"{project_id}.git"
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not target.exists():
        store_of(project_id).rename(target)
