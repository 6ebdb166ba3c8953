"""Apply a patch to the files of a place."""

from __future__ import annotations

from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError, ErrorCode, Unavailable
from opencode_web.lib.json import JsonValue
from sessions.browse.place import Place
from sessions.checkouts.repository import CheckoutError, NoCheckouts

MAX_PATCH_BYTES = 4 * 1024 * 1024


class NotApplied(AppError):
    """A patch that does not fit; nothing is changed. `reason` is `non-git` or `not-clean`."""

    code = ErrorCode.NOT_APPLIED


async def apply_patch(place: Place, patch: str) -> JsonValue:
    """Change files as a unified diff says: all of it or nothing. Git's index stays as it is.

    git refuses names that leave the worktree, lead through a link, or lie in `.git`.

    Returns: `{applied}`. Raises: NotApplied; Unavailable when git cannot run.
    """
    try:
        repository = await place.repository()
    except NoCheckouts as exc:
        raise NotApplied(str(exc), reason="non-git") from exc
    except CheckoutError as exc:
        raise Unavailable(_("git cannot run here: {why}").format(why=exc)) from exc
    given = patch if patch.endswith("\n") else f"{patch}\n"
    try:
        await repository.ask(
            *("apply", "--whitespace=nowarn", "-"),
            writes=True,
            given=given.encode("utf-8", "surrogateescape"),
        )
    except CheckoutError as exc:
        raise NotApplied(f"The patch cannot be applied: {exc}", reason="not-clean") from exc
    return {"applied": True}
