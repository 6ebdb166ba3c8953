"""Apply a patch to the files of a folder."""

from __future__ import annotations

from typing import Literal

from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from opencode_web.lib.errors import AppError, ErrorCode, Unavailable
from sessions.browse.file_scope import FileScope
from sessions.checkouts.repository import CheckoutError, NoCheckouts

MAX_PATCH_BYTES = 4 * 1024 * 1024
_MASKED = (
    "The patch cannot be applied: it was made from files in which secrets of the project are shown "
    "as [secret NAME], and would write that in place of the secret."
)


class NotApplied(AppError):
    """A patch that does not fit; nothing is changed. `reason` is `non-git` or `not-clean`."""

    code = ErrorCode.NOT_APPLIED


class VcsApplied(TypedDict):
    """All of a patch is in the files."""

    applied: Literal[True]


async def apply_patch(scope: FileScope, patch: str) -> VcsApplied:
    """Change files as a unified diff says: all of it or nothing. Git's index stays as it is.

    git refuses names that leave the worktree, lead through a link, or lie in `.git`.

    Raises: NotApplied; Unavailable when git cannot run.
    """
    try:
        repository = await scope.repository()
    except NoCheckouts as exc:
        raise NotApplied(str(exc), reason="non-git") from exc
    except CheckoutError as exc:
        raise Unavailable(_("Git cannot run here: {why}").format(why=exc)) from exc
    if _adds_marks(scope, patch):
        raise NotApplied(_MASKED, reason="not-clean")
    given = patch if patch.endswith("\n") else f"{patch}\n"
    try:
        await repository.ask(
            *("apply", "--whitespace=nowarn", "-"),
            writes=True,
            given=given.encode("utf-8", "surrogateescape"),
        )
    except CheckoutError as exc:
        why = _MASKED if scope.redactor.marks_in(patch) else f"The patch cannot be applied: {exc}"
        raise NotApplied(why, reason="not-clean") from exc
    return {"applied": True}


def _adds_marks(scope: FileScope, patch: str) -> bool:
    """Whether there are more marks of secrets after it than before."""
    added, removed = (
        "".join(line for line in patch.splitlines(keepends=True) if line.startswith(sign))
        for sign in "+-"
    )
    return scope.redactor.marks_in(added) > scope.redactor.marks_in(removed)
