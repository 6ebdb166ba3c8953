"""GitLab, where a pull request is called a merge request.

Source: https://docs.gitlab.com/api/merge_requests/ and, for the title of a draft,
https://docs.gitlab.com/user/project/merge_requests/drafts/
"""

from __future__ import annotations

import re
from urllib.parse import quote

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import Checks, Pull, PullState, Wanted
from sessions.forges.answers import number_of, object_of, objects_of, page_of, text_at, title_of
from sessions.forges.api import Api

_DRAFT = re.compile(r"\s*(\[draft\]|draft:|\(draft\))", re.IGNORECASE)
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


class GitLab:
    """`path` is the whole one of the project, with every group."""

    def __init__(self, base: str, path: str, token: str) -> None:
        self._api = Api("GitLab", base, token, ("private-token", "{}"))
        self._requests = f"/projects/{quote(path, safe='')}/merge_requests"

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
    )
