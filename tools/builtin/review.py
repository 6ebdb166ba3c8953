from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.base import Params, Tool, ToolResult, load_description
from tools.context import PermissionAsk, ReviewComment, ReviewDraft, ToolContext

MAX_COMMENTS = 100
_MAX_LINE = 10_000_000


class CommentParams(Params):
    """One comment."""

    path: str = Field(
        min_length=1,
        max_length=500,
        description="The file, relative to the root of the repository.",
    )
    line: int = Field(ge=1, le=_MAX_LINE, description="The line, or the last of several.")
    start_line: int | None = Field(
        None, ge=1, le=_MAX_LINE, description="The first line, where the comment is on several."
    )
    side: Literal["new", "old"] = Field(
        "new", description="old for a line that the pull request removes."
    )
    body: str = Field(min_length=1, max_length=5_000, description="The comment, in Markdown.")
    suggestion: str | None = Field(
        None, max_length=5_000, description="The exact text that replaces the lines of the comment."
    )


class ReviewParams(Params):
    """A whole review."""

    summary: str = Field(
        min_length=1, max_length=20_000, description="What the review comes to, in Markdown."
    )
    comments: list[CommentParams] = Field(
        default_factory=list, max_length=MAX_COMMENTS, description="Comments on single lines."
    )
    verdict: Literal["comment", "approve", "request_changes"] = Field(
        "comment", description="What should become of the pull request."
    )


async def run(params: ReviewParams, context: ToolContext) -> ToolResult:
    """Have it posted."""
    await context.ask(PermissionAsk("review", ("*",)))
    comments = tuple(
        ReviewComment(
            one.path, one.line, one.body, one.start_line, one.side == "old", one.suggestion
        )
        for one in params.comments
    )
    pull = await context.post_review(ReviewDraft(params.summary, params.verdict, comments))
    return ToolResult(
        title=f"Review of {pull}",
        output=(
            f"The review of pull request {pull} will be posted. Comments on lines that its diff "
            "does not show become part of the summary. Do not repeat the review in your answer."
        ),
        metadata={"verdict": params.verdict, "comments": len(comments)},
    )


TOOL = Tool("review", ReviewParams, run, "review", load_description(__file__))
