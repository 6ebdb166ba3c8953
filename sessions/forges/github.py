"""GitHub, and GitHub Enterprise Server.

Source: https://docs.github.com/en/rest/pulls/pulls and
https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference (2022-11-28)
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import CheckCounts, ForgeError, Pull, PullState, Wanted
from sessions.forges.answers import object_of, objects_of, read_pull, text_at
from sessions.forges.api import Api, Tokens
from sessions.forges.issue_comments import IssueComments
from sessions.forges.people import People
from sessions.forges.pull_reviews import PullReviews
from sessions.forges.statuses import CheckRuns

_MORE = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
_FAILED = {"failure", "cancelled", "timed_out", "action_required", "startup_failure"}
_NO_CHECKS = CheckCounts()


class GitHub(IssueComments, PullReviews, CheckRuns, People):
    """`path` is owner/name."""

    def __init__(self, base: str, path: str, token: str | Tokens) -> None:
        self._api = open_api(base, token)
        self._owner = path.partition("/")[0]
        self._repo = f"/repos/{quote(path)}"

    async def create(self, wanted: Wanted) -> Pull:
        """Raises: AlreadyOpen; ForgeError."""
        body: JsonObject = {
            "title": wanted.title,
            "body": wanted.body,
            "head": wanted.head,
            "base": wanted.base,
            "draft": wanted.draft,
        }
        return _pull(object_of(await self._api.post(f"{self._repo}/pulls", body)))

    async def find(self, head: str) -> Pull | None:
        """Raises: ForgeError."""
        found = await self._api.get(
            f"{self._repo}/pulls", state="open", head=f"{self._owner}:{head}", per_page="1"
        )
        # An older Enterprise Server ignores a `head` that it does not know.
        same = [one for one in objects_of(found) if text_at(one, "head", "ref") == head]
        return _pull(same[0]) if same else None

    async def read(self, number: int) -> Pull:
        """Raises: ForgeError."""
        found = object_of(await self._api.get(f"{self._repo}/pulls/{number}"))
        pull = _pull(found)
        sha = text_at(found, "head", "sha")
        if pull.state not in (PullState.OPEN, PullState.DRAFT) or not sha:
            return pull
        return _pull(found, await self._checks(sha))

    async def _checks(self, sha: str) -> CheckCounts:
        path = f"{self._repo}/commits/{quote(sha, safe='')}/check-runs"
        try:
            answer = object_of(await self._api.get(path, per_page="100"))
        except ForgeError:
            # Tokens may read pull requests and not their checks.
            return CheckCounts()
        runs = objects_of(answer.get("check_runs") or [])
        failed = sum(text_at(run, "conclusion") in _FAILED for run in runs)
        running = sum(text_at(run, "status") != "completed" for run in runs)
        return CheckCounts(len(runs) - failed - running, failed, running)


def open_api(base: str, token: str | Tokens) -> Api:
    """GitHub's API, for whomever the token is of."""
    return Api("GitHub", base, token, ("authorization", "Bearer {}"), _MORE)


def _pull(found: JsonObject, counts: CheckCounts = _NO_CHECKS) -> Pull:
    if text_at(found, "state") == "open":
        state = PullState.DRAFT if found.get("draft") is True else PullState.OPEN
    else:
        state = PullState.MERGED if text_at(found, "merged_at") else PullState.CLOSED
    return replace(read_pull(found, state), checks=counts.together, counts=counts)
