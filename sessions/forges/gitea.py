"""Gitea and Forgejo, which Codeberg runs.

Source: https://docs.gitea.com/api/ (repoCreatePullRequest, repoListPullRequests,
repoGetPullRequest, repoGetCombinedStatusByRef) and WORK_IN_PROGRESS_PREFIXES in
https://docs.gitea.com/administration/config-cheat-sheet
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import (
    CheckCounts,
    Checks,
    ForgeError,
    Pull,
    PullState,
    Reaction,
    Thread,
    Wanted,
)
from sessions.forges.answers import (
    is_of_repository,
    object_of,
    objects_of,
    read_pull,
    text_at,
    title_of,
)
from sessions.forges.api import Api, Tokens
from sessions.forges.issue_comments import IssueComments
from sessions.forges.people import People
from sessions.forges.pull_reviews import GiteaReviews
from sessions.forges.statuses import Statuses

_DRAFT = re.compile(r"\s*(wip:|\[wip\])", re.IGNORECASE)
_STATUSES = {
    "success": Checks.PASSED,
    "warning": Checks.PASSED,
    "failure": Checks.FAILED,
    "error": Checks.FAILED,
    "pending": Checks.RUNNING,
}
_PAGE, _PAGES = 50, 6


class Gitea(IssueComments, GiteaReviews, Statuses, People):
    """`path` is owner/name."""

    # It answers with all comments of an issue at once, whatever page is asked for.
    _comment_pages = 1

    def __init__(self, base: str, path: str, token: str | Tokens) -> None:
        self._api = Api("Gitea", base, token, ("authorization", "token {}"))
        self._repo = f"/repos/{quote(path)}"

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        """Raises: ForgeError."""
        found = await self._api.post(self._reactions(thread, to), {"content": reaction.value})
        # They have no ids here.
        return text_at(object_of(found), "content")

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        """Raises: ForgeError."""
        await self._api.delete(self._reactions(thread, to), {"content": reaction.value})

    async def create(self, wanted: Wanted) -> Pull:
        """Raises: AlreadyOpen; ForgeError."""
        marked = wanted.draft and not _DRAFT.match(wanted.title)
        body: JsonObject = {
            "title": f"WIP: {wanted.title}" if marked else wanted.title,
            "body": wanted.body,
            "head": wanted.head,
            "base": wanted.base,
        }
        return _pull(object_of(await self._api.post(f"{self._repo}/pulls", body)))

    async def find(self, head: str) -> Pull | None:
        """Look through the newest 300 open ones: it can be asked for by base and head together
        only, and then answers with a closed one too. `head` can also be its newest commit.

        Raises: ForgeError.
        """
        path, query = f"{self._repo}/pulls", {"state": "open", "limit": str(_PAGE)}
        async for one in self._api.get_pages(path, pages=_PAGES, **query):
            ends = (text_at(one, "head", "ref"), text_at(one, "head", "sha"))
            if head in ends and is_of_repository(one):
                return _pull(one)
        return None

    async def read(self, number: int) -> Pull:
        """Raises: ForgeError."""
        found = object_of(await self._api.get(f"{self._repo}/pulls/{number}"))
        pull = _pull(found)
        sha = text_at(found, "head", "sha")
        if pull.state not in (PullState.OPEN, PullState.DRAFT) or not sha:
            return pull
        try:
            path = f"{self._repo}/commits/{quote(sha, safe='')}/status"
            status = object_of(await self._api.get(path))
        except ForgeError:
            # Tokens may read pull requests and not their checks.
            return pull
        told = _STATUSES.get(text_at(status, "state"), Checks.NONE)
        each = objects_of(status.get("statuses") or [])
        # What is no state that we know counts nowhere.
        told_each = [_STATUSES.get(text_at(one, "status")) for one in each]
        counts = CheckCounts(
            passed=told_each.count(Checks.PASSED),
            failed=told_each.count(Checks.FAILED),
            running=told_each.count(Checks.RUNNING),
        )
        return replace(pull, checks=told, counts=counts)


def _pull(found: JsonObject) -> Pull:
    if found.get("merged") is True:
        state = PullState.MERGED
    elif text_at(found, "state") != "open":
        state = PullState.CLOSED
    else:
        # Older servers tell it by the title alone.
        draft = found.get("draft") is True or bool(_DRAFT.match(title_of(found)))
        state = PullState.DRAFT if draft else PullState.OPEN
    return read_pull(found, state)
