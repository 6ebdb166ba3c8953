"""Make a folder a git repository."""

from __future__ import annotations

import asyncio
import os

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Unavailable
from sessions.browse.file_scope import FileScope
from sessions.checkouts.repository import CheckoutError, Repository


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
