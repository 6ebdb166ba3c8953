"""Comments of issues and pull requests as GitHub has them, and Gitea after it.

Source: https://docs.github.com/en/rest/issues/comments,
https://docs.github.com/en/rest/reactions/reactions and https://docs.gitea.com/api/ (issue)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sessions.forges.answers import id_of, objects_of, text_at
from sessions.forges.api import Api

_PAGE, _PAGES = 50, 6


@dataclass(frozen=True)
class IssueComments:
    """`repository` is the path of one. A pull request is an issue here."""

    api: Api
    repository: str

    async def add(self, number: int, text: str) -> str:
        """Returns: its id. Raises: ForgeError."""
        path = f"{self.repository}/issues/{number}/comments"
        return id_of(await self.api.post(path, {"body": text}))

    async def edit(self, comment: str, text: str) -> None:
        """Raises: ForgeError."""
        await self.api.patch(f"{self.repository}/issues/comments/{comment}", {"body": text})

    async def find(self, number: int, text: str, *, since: datetime) -> str:
        """Look through the 300 oldest since then. Returns: an id, or nothing.

        Raises: ForgeError.
        """
        path = f"{self.repository}/issues/{number}/comments"
        query = {"since": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        # GitHub and Gitea name the size of a page differently, and ignore the other's name.
        query |= {"per_page": str(_PAGE), "limit": str(_PAGE)}
        for page in range(1, _PAGES + 1):
            found = objects_of(await self.api.get(path, **query, page=str(page)))
            for one in found:
                if text in text_at(one, "body"):
                    return id_of(one)
            if not found:
                break
        return ""

    async def react(self, comment: str) -> None:
        """Raises: ForgeError."""
        path = f"{self.repository}/issues/comments/{comment}/reactions"
        await self.api.post(path, {"content": "eyes"})
