"""GitLab, where a pull request is called a merge request.

Source: https://docs.gitlab.com/api/merge_requests/, for reactions
https://docs.gitlab.com/api/emoji_reactions/ and, for the title of a draft,
https://docs.gitlab.com/user/project/merge_requests/drafts/
"""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import quote

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import (
    OPENED,
    Checks,
    ForgeError,
    Pull,
    PullState,
    Reaction,
    Thread,
    Wanted,
)
from sessions.forges.answers import (
    id_of,
    number_of,
    object_of,
    objects_of,
    page_of,
    text_at,
    title_of,
)
from sessions.forges.api import Api, Tokens
from sessions.forges.gitlab_reviews import GitLabReviews
from sessions.forges.people import is_missing, own_account
from sessions.forges.statuses import GitLabStatuses

_DRAFT = re.compile(r"\s*(\[draft\]|draft:|\(draft\))", re.IGNORECASE)
_DEVELOPER = 30
# Where its name is another one.
_EMOJI = {Reaction.HOORAY: "tada"}
_STATES = {"merged": PullState.MERGED, "closed": PullState.CLOSED}
# Others, such as "skipped" and "manual", are neither good nor bad.
_PIPELINES = {
    "success": Checks.PASSED,
    "failed": Checks.FAILED,
    "canceled": Checks.FAILED,
    "created": Checks.RUNNING,
    "waiting_for_resource": Checks.RUNNING,
    "preparing": Checks.RUNNING,
    "pending": Checks.RUNNING,
    "running": Checks.RUNNING,
    "scheduled": Checks.RUNNING,
}


class GitLab(GitLabReviews, GitLabStatuses):
    """`path` is the whole one of the project, with every group."""

    def __init__(self, base: str, path: str, token: str | Tokens) -> None:
        self._api = Api("GitLab", base, token, ("private-token", "{}"))
        self._project = f"/projects/{quote(path, safe='')}"
        self._requests = f"{self._project}/merge_requests"

    async def create(self, wanted: Wanted) -> Pull:
        """Raises: AlreadyOpen; ForgeError."""
        marked = wanted.draft and not _DRAFT.match(wanted.title)
        body: JsonObject = {
            "title": f"Draft: {wanted.title}" if marked else wanted.title,
            "description": wanted.body,
            "source_branch": wanted.head,
            "target_branch": wanted.base,
        }
        return _pull(object_of(await self._api.post(self._requests, body)))

    async def find(self, head: str) -> Pull | None:
        """Raises: ForgeError."""
        found = objects_of(
            await self._api.get(self._requests, state="opened", source_branch=head, per_page="20")
        )
        # Not those of forks, whose branches can have the same name.
        own = [one for one in found if one.get("source_project_id") == one.get("target_project_id")]
        return _pull(own[0]) if own else None

    async def read(self, number: int) -> Pull:
        """Raises: ForgeError."""
        return _pull(object_of(await self._api.get(f"{self._requests}/{number}")))

    async def comment(self, thread: Thread, text: str) -> str:
        """Raises: ForgeError."""
        return id_of(await self._api.post(self._notes(thread), {"body": text}))

    async def edit_comment(self, thread: Thread, comment: str, text: str) -> None:
        """Raises: ForgeError."""
        await self._api.put(f"{self._notes(thread)}/{quote(comment, safe='')}", {"body": text})

    async def find_comment(self, thread: Thread, text: str, *, since: datetime) -> str:
        """Look through the newest 100. Raises: ForgeError."""
        query = {"sort": "desc", "order_by": "created_at", "per_page": "100"}
        found = objects_of(await self._api.get(self._notes(thread), **query))
        return next((id_of(one) for one in found if text in text_at(one, "body")), "")

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        """Raises: ForgeError."""
        path, name = self._awards(thread, to), _EMOJI.get(reaction, reaction.value)
        try:
            return id_of(await self._api.post(path, {"name": name}))
        except ForgeError as exc:
            if not is_missing(exc):
                raise
            # So it answers a second time, too.
            me = await self.own_account()
            for one in objects_of(await self._api.get(path, per_page="100")):
                if text_at(one, "name") == name and id_of(one.get("user")) == me:
                    return id_of(one)
            raise

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        """Raises: ForgeError."""
        await self._api.delete(f"{self._awards(thread, to)}/{made}")

    async def own_account(self) -> str:
        """Raises: ForgeError."""
        return await own_account(self._api)

    async def may_push(self, name: str, account_id: str) -> bool:
        """Raises: ForgeError."""
        path = f"{self._project}/members/all/{quote(account_id, safe='')}"
        try:
            level = object_of(await self._api.get(path)).get("access_level")
        except ForgeError as exc:
            if is_missing(exc):
                return False
            raise
        return isinstance(level, int) and level >= _DEVELOPER

    def _awards(self, thread: Thread, to: str) -> str:
        about = self._thread(thread) if to == OPENED else f"{self._notes(thread)}/{quote(to)}"
        return f"{about}/award_emoji"

    def _notes(self, thread: Thread) -> str:
        return f"{self._thread(thread)}/notes"

    def _thread(self, thread: Thread) -> str:
        kind = "merge_requests" if thread.is_pull else "issues"
        return f"{self._project}/{kind}/{thread.number}"


def _pull(found: JsonObject) -> Pull:
    state = _STATES.get(text_at(found, "state"), PullState.OPEN)
    checks = Checks.NONE
    if state is PullState.OPEN:
        state = PullState.DRAFT if found.get("draft") is True else state
        checks = _PIPELINES.get(text_at(found, "head_pipeline", "status"), Checks.NONE)
    return Pull(
        number=number_of(found, "iid"),
        url=page_of(found, "web_url"),
        title=title_of(found),
        base=text_at(found, "target_branch"),
        state=state,
        checks=checks,
        head=text_at(found, "sha"),
        branch=text_at(found, "source_branch"),
        fetch=f"refs/merge-requests/{number_of(found, 'iid')}/head",
        is_fork=found.get("source_project_id") != found.get("target_project_id"),
    )
