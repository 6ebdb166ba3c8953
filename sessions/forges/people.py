"""Which accounts are whose, and what they may do, as GitHub has it, and Gitea after it.

Source: https://docs.github.com/en/rest/collaborators/collaborators, for Gitea
`repoGetRepoPermissions`, and https://docs.github.com/en/rest/users/users
"""

from __future__ import annotations

from urllib.parse import quote

from opencode_web.lib.reasons import Cause
from sessions.forges.adapter import ForgeError
from sessions.forges.answers import id_of, object_of, text_at
from sessions.forges.api import Api
from sessions.forges.reasons import ForgeReason

_MAY_PUSH = {"write", "admin", "owner"}


class People:
    """That part of a `Forge`."""

    _api: Api
    # The path of the repository.
    _repo: str

    async def own_account(self) -> str:
        """Raises: ForgeError."""
        return await own_account(self._api)

    async def may_push(self, name: str, account_id: str) -> bool:
        """Raises: ForgeError."""
        path = f"{self._repo}/collaborators/{quote(name, safe='')}/permission"
        try:
            found = object_of(await self._api.get(path))
        except ForgeError as exc:
            if is_missing(exc):
                return False
            raise
        # The name may be somebody else's by now.
        same = str(object_of(found.get("user") or {}).get("id")) == account_id
        return same and text_at(found, "permission") in _MAY_PUSH


async def own_account(api: Api) -> str:
    """Returns: the number of the token's account; empty for a token that is of none.

    Raises: ForgeError.
    """
    try:
        return id_of(await api.get("/user"))
    except ForgeError as exc:
        if isinstance(exc.told, Cause) and exc.told.reason is ForgeReason.FORBIDDEN:
            return ""
        raise


def is_missing(error: ForgeError) -> bool:
    """Whether there is no such thing."""
    return isinstance(error.told, Cause) and error.told.reason is ForgeReason.NOT_FOUND
