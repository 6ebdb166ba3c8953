"""Stage lines of a file for the next commit, and take them back."""

from __future__ import annotations

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, NotFound, Unavailable
from opencode_web.lib.hunks import HunkRange
from sessions.browse.changes import head_of
from sessions.browse.file_scope import FileScope
from sessions.browse.index import (
    stage_file,
    stage_lines,
    stage_rename,
    unstage_file,
    unstage_lines,
)
from sessions.browse.review import diff_file
from sessions.checkouts.repository import CheckoutError


async def stage_hunk(
    scope: FileScope, file: str, hunk: list[int], looked: str, *, stage: bool, old: str = ""
) -> None:
    """Stage a hunk of the changes since the last commit, or take it out of the index again.

    `hunk` is its range; `looked` the stamp of the file as it was shown; `old` what the last commit
    calls it.

    Raises: Conflict when another state of the file was shown, or another git is at work; as
    `diff_file`.
    """
    diff = await diff_file(scope, "git", file, old)
    if diff["stamp"] != looked:
        raise Conflict(_("The file has changed since you looked at it."))
    try:
        repository = await scope.repository()
        match diff["status"], stage:
            case "modified" | "renamed", True:
                if diff["old"]:
                    await stage_rename(repository, await head_of(repository), file, old)
                done = await stage_lines(repository, file, HunkRange(*hunk))
            case "modified" | "renamed", False:
                base, lines = await head_of(repository), [HunkRange(*hunk)]
                done = await unstage_lines(repository, base, file, lines, old)
            case "added" | "deleted", True:
                done = True
                await stage_file(repository, file)
            case "added" | "deleted", False:
                done = True
                await unstage_file(repository, file)
            case _:
                done = False
    except CheckoutError as exc:
        if "index.lock" in str(exc):
            raise Conflict(_("Another Git command is running here. Try again.")) from exc
        raise Unavailable(_("Git could not stage this: {why}").format(why=exc)) from exc
    if not done:
        raise NotFound("Lines of the file", file)
