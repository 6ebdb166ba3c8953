"""Reviews of pull requests as GitHub has them, and Gitea after it.

Source: https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request,
https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files and
https://docs.gitea.com/api/ (repoCreatePullReview, repoDownloadPullDiffOrPatch)
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, JsonValue, text_of
from sessions.forges.answers import id_of, object_of, text_at
from sessions.forges.api import Api
from sessions.forges.reviews import Diff, LineComment, Review, Verdict, read_diff, read_hunks

_PAGE, _PAGES = 50, 20
_EVENTS = {
    Verdict.COMMENT: "COMMENT",
    Verdict.APPROVE: "APPROVE",
    Verdict.REQUEST_CHANGES: "REQUEST_CHANGES",
}


class PullReviews:
    """That part of a `Forge`."""

    _api: Api
    # The path of the repository.
    _repo: str
    _events = _EVENTS

    async def default_branch(self) -> str:
        """Raises: ForgeError."""
        return text_at(object_of(await self._api.get(self._repo)), "default_branch")

    async def read_diff(self, number: int) -> Diff:
        """Look through the first 1000 files. GitHub leaves out what is very long.

        Raises: ForgeError.
        """
        diff: Diff = {}
        path = f"{self._repo}/pulls/{number}/files"
        async for one in self._api.get_pages(path, pages=_PAGES, per_page=str(_PAGE)):
            name = text_of(one, "filename")
            old = text_of(one, "previous_filename") or name
            diff[name] = read_hunks(text_of(one, "patch"), old_path=old)
        return diff

    async def post_review(self, number: int, review: Review, *, is_again: bool) -> str:
        """Raises: ForgeError."""
        path = f"{self._repo}/pulls/{number}/reviews"
        if is_again and (known := await self._find_review(path, review.mark)):
            return known
        body: JsonObject = {
            "commit_id": review.commit,
            "body": review.text(),
            "event": self._events[review.verdict],
            "comments": [self._comment(one, review.mark) for one in review.comments],
        }
        return id_of(await self._api.post(path, body))

    async def _find_review(self, path: str, mark: str) -> str:
        query = {"per_page": str(_PAGE), "limit": str(_PAGE)}
        async for one in self._api.get_pages(path, pages=_PAGES, **query):
            if mark in text_at(one, "body"):
                return id_of(one)
        return ""

    def _comment(self, comment: LineComment, mark: str) -> JsonValue:
        side = "LEFT" if comment.is_old else "RIGHT"
        made: JsonObject = {
            "path": comment.path,
            "line": comment.line,
            "side": side,
            "body": f"{comment.text('' if comment.is_old else 'suggestion')}\n\n{mark}",
        }
        if comment.first != comment.line:
            made |= {"start_line": comment.first, "start_side": side}
        return made


class GiteaReviews(PullReviews):
    """Gitea's: it has neither several lines nor suggestions, and other words."""

    _events = {**_EVENTS, Verdict.APPROVE: "APPROVED"}

    async def read_diff(self, number: int) -> Diff:
        """Raises: ForgeError."""
        return read_diff(await self._api.get_text(f"{self._repo}/pulls/{number}.diff"))

    def _comment(self, comment: LineComment, mark: str) -> JsonValue:
        side = "old_position" if comment.is_old else "new_position"
        body = f"{with_lines(comment, '')}\n\n{mark}"
        return {"path": comment.path, side: comment.line, "body": body}


def with_lines(comment: LineComment, info: str) -> str:
    """Returns: the comment, which says its lines where the forge takes one only."""
    if comment.first == comment.line:
        return comment.text(info)
    return f"Lines {comment.first} to {comment.line}: {comment.text(info)}"
