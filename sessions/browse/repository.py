"""The git repository of a folder: make it, and read its last commit."""

from __future__ import annotations

import asyncio
import os
from typing import TypedDict

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Unavailable
from sessions.browse.file_scope import FileScope
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.checkouts.survey import branches_of
from tools.text_file import displayable

_MAX_NAME_CHARS, _MAX_SUBJECT_CHARS = 100, 200
# The last that a date can be.
_MAX_TIME_S = 253_402_300_799


class Commit(TypedDict):
    """Units: `at` in seconds since the epoch."""

    sha: str
    author: str
    at: int
    subject: str


async def last_commit(scope: FileScope) -> Commit | None:
    """Returns: None where there is no repository, or no commit in it.

    Raises: Unavailable when git fails.
    """
    try:
        repository = await scope.find_repository()
        if repository is None or (sha := await repository.find("HEAD")) is None:
            return None
        said = await repository.ask(
            *("log", "--max-count=1", "--no-show-signature", "--format=%at%x00%an%x00%s", sha),
            cut=True,
        )
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the files: {why}").format(why=exc)) from exc
    at, _nul, rest = said.partition("\0")
    author, _nul, subject = rest.partition("\0")
    return {
        "sha": sha,
        "author": displayable(author)[:_MAX_NAME_CHARS],
        # Whoever made the commit has set its time.
        "at": min(int(at), _MAX_TIME_S) if at.isdecimal() else 0,
        "subject": displayable(subject.strip())[:_MAX_SUBJECT_CHARS],
    }


async def list_branches(scope: FileScope) -> list[str]:
    """Returns: those of the repository and of its origin, those of sessions last.

    Raises: Unavailable when git fails.
    """
    try:
        repository = await scope.find_repository()
        return [] if repository is None else await branches_of(repository)
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the files: {why}").format(why=exc)) from exc


async def has_branch(scope: FileScope, name: str) -> bool:
    """Whether a session can start from a branch of this name.

    Raises: Unavailable when git fails.
    """
    try:
        repository = await scope.find_repository()
        if repository is None:
            return False
        for place in ("refs/heads", "refs/remotes/origin"):
            if await repository.find(f"{place}/{name}") is not None:
                return True
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the files: {why}").format(why=exc)) from exc
    return False


async def init_repository(scope: FileScope) -> bool:
    """Returns: whether it is one now and was none before.

    Raises: Conflict when there is a `.git` that is no repository; Unavailable when git fails.
    """
    git_dir = scope.worktree / ".git"
    try:
        if await scope.find_repository() is not None:
            return False
        if await asyncio.to_thread(os.path.lexists, git_dir):
            raise Conflict(_("The .git entry is not a regular repository. Check it on the server."))
        await Repository(git_dir, scope.worktree).init("--initial-branch=main")
    except CheckoutError as exc:
        raise Unavailable(_("Git could not create a repository: {why}").format(why=exc)) from exc
    return True
