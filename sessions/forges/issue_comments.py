"""Comments of issues and pull requests as GitHub has them, and Gitea after it.

Source: https://docs.github.com/en/rest/issues/comments,
https://docs.github.com/en/rest/reactions/reactions and https://docs.gitea.com/api/ (issue)
"""

from __future__ import annotations

from datetime import UTC, datetime

from sessions.forges.adapter import LINE, OPENED, Reaction, Thread
from sessions.forges.answers import id_of, text_at
from sessions.forges.api import Api

_PAGE = 50


class IssueComments:
    """That part of a `Forge`. A pull request is an issue here."""

    _api: Api
    # The path of the repository.
    _repo: str
    _comment_pages = 6

    async def comment(self, thread: Thread, text: str) -> str:
        """Raises: ForgeError."""
        path = f"{self._repo}/issues/{thread.number}/comments"
        return id_of(await self._api.post(path, {"body": text}))

    async def edit_comment(self, thread: Thread, comment: str, text: str) -> None:
        """Raises: ForgeError."""
        await self._api.patch(f"{self._repo}/issues/comments/{comment}", {"body": text})

    async def find_comment(self, thread: Thread, text: str, *, since: datetime) -> str:
        """Look through the 300 oldest since then, at Gitea all. Raises: ForgeError."""
        path = f"{self._repo}/issues/{thread.number}/comments"
        query = {"since": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", "per_page": str(_PAGE)}
        async for one in self._api.get_pages(path, pages=self._comment_pages, **query):
            if text in text_at(one, "body"):
                return id_of(one)
        return ""

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        """Raises: ForgeError."""
        # A second time it answers with the first one.
        return id_of(await self._api.post(self._reactions(thread, to), {"content": reaction.value}))

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        """Raises: ForgeError."""
        await self._api.delete(f"{self._reactions(thread, to)}/{made}")

    def _reactions(self, thread: Thread, to: str) -> str:
        if to == OPENED:
            return f"{self._repo}/issues/{thread.number}/reactions"
        kind = "pulls" if to.startswith(LINE) else "issues"
        return f"{self._repo}/{kind}/comments/{to.removeprefix(LINE)}/reactions"
