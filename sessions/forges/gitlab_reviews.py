"""Reviews of merge requests: a discussion for each line, and then a comment with the summary.

Each has the mark of the review and its number, so that after a lost answer only what is missing is
written.

Source: https://docs.gitlab.com/api/discussions/#create-a-new-thread-in-the-merge-request-diff,
https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/ and
https://docs.gitlab.com/api/merge_request_approvals/
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, list_of, object_of, text_of
from sessions.forges.adapter import ForgeError
from sessions.forges.answers import id_of, text_at
from sessions.forges.answers import object_of as answered
from sessions.forges.api import Api
from sessions.forges.pull_reviews import with_lines
from sessions.forges.reasons import ForgeReason
from sessions.forges.reviews import Diff, LineComment, Review, Verdict, is_in, read_hunks

_PAGE, _PAGES = 50, 20
# So many lines above its own can a suggestion replace.
_MAX_ABOVE = 100


class GitLabReviews:
    """That part of a `Forge`."""

    _api: Api
    # The paths of the project and of its merge requests.
    _project: str
    _requests: str

    async def default_branch(self) -> str:
        """Raises: ForgeError."""
        return text_at(answered(await self._api.get(self._project)), "default_branch")

    async def read_diff(self, number: int) -> Diff:
        """Look through the first 1000 files. Raises: ForgeError."""
        diff: Diff = {}
        path = f"{self._requests}/{number}/diffs"
        async for one in self._api.get_pages(path, pages=_PAGES, per_page=str(_PAGE)):
            name = text_of(one, "new_path")
            diff[name] = read_hunks(text_of(one, "diff"), old_path=text_of(one, "old_path"))
        return diff

    async def post_review(self, number: int, review: Review, *, is_again: bool) -> str:
        """Raises: ForgeError."""
        path = f"{self._requests}/{number}/discussions"
        known = await self._known(path, review.mark) if is_again else {}
        summary = _mark(review, 0)
        if summary in known:
            return known[summary]
        refs = object_of(answered(await self._api.get(f"{self._requests}/{number}")), "diff_refs")
        diff = await self.read_diff(number) if review.comments else {}
        refused = []
        for place, comment in enumerate(review.comments, start=1):
            mark = _mark(review, place)
            if mark in known:
                continue
            if not is_in(diff, comment):
                # It was in the diff until just now.
                refused.append(comment)
                continue
            try:
                await self._discuss(path, comment, diff, refs, mark)
            except ForgeError as exc:
                if exc.reason is not ForgeReason.REFUSED:
                    raise
                refused.append(comment)
        if review.verdict is Verdict.APPROVE:
            await self._approve(number, review.commit)
        body = review.text(*refused)
        if review.verdict is Verdict.REQUEST_CHANGES:
            body = f"**Changes requested**\n\n{body}"
        note = await self._api.post(
            f"{self._requests}/{number}/notes", {"body": f"{body}\n{summary}"}
        )
        return id_of(note)

    async def _known(self, path: str, mark: str) -> dict[str, str]:
        """Returns: what was written of a review, its marks with the ids of their comments."""
        found = {}
        async for one in self._api.get_pages(path, pages=_PAGES, per_page=str(_PAGE)):
            for note in list_of(one, "notes")[:1]:
                body = text_at(answered(note), "body")
                if mark in body:
                    found[body.rpartition("\n")[2]] = id_of(note)
        return found

    async def _discuss(
        self, path: str, comment: LineComment, diff: Diff, refs: JsonObject, mark: str
    ) -> None:
        lines = diff[comment.path]
        side = lines.old if comment.is_old else lines.new
        _, other = side[comment.line]
        old, new = (comment.line, other) if comment.is_old else (other, comment.line)
        position: JsonObject = {
            "position_type": "text",
            "base_sha": text_of(refs, "base_sha"),
            "start_sha": text_of(refs, "start_sha"),
            "head_sha": text_of(refs, "head_sha"),
            "old_path": lines.old_path,
            "new_path": comment.path,
        }
        # Both for a line that was not changed.
        position |= {name: at for name, at in (("old_line", old), ("new_line", new)) if at}
        above = comment.line - comment.first
        takes = not comment.is_old and above <= _MAX_ABOVE
        body = with_lines(comment, f"suggestion:-{above}+0" if takes else "")
        await self._api.post(path, {"body": f"{body}\n\n{mark}", "position": position})

    async def _approve(self, number: int, commit: str) -> None:
        try:
            await self._api.post(f"{self._requests}/{number}/approve", {"sha": commit})
        except ForgeError as exc:
            # Whoever has opened it, or approved it before, cannot: GitLab says 401 to them.
            if exc.reason not in (ForgeReason.REFUSED, ForgeReason.TOKEN_REFUSED):
                raise


def _mark(review: Review, place: int) -> str:
    return f"{review.mark}<!-- {place} -->"
