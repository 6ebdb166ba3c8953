from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError
from tools.builtin.review import TOOL
from tools.context import ReviewComment
from tools.features import Features
from tools.permissions.defaults import DEFAULTS
from tools.permissions.rules import Action, evaluate
from tools.registry import offered_tools


async def test_a_review_is_handed_on_as_a_whole(context: FakeToolContext) -> None:
    comments: list[Any] = [
        {"path": "a.py", "line": 3, "start_line": 2, "body": "Why?", "suggestion": ""},
        {"path": "a.py", "line": 9, "side": "old", "body": "Needed."},
    ]
    result = await context.call("review", summary="Good.", comments=comments)
    [draft] = context.reviews
    assert (draft.summary, draft.verdict) == ("Good.", "comment")
    assert draft.comments == (
        ReviewComment("a.py", 3, "Why?", 2, suggestion=""),
        ReviewComment("a.py", 9, "Needed.", is_old=True),
    )
    assert result.title == "Review of #3"


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": ""},
        {"summary": "x", "verdict": "merge"},
        {"summary": "x", "comments": [{"path": "a", "line": 0, "body": "x"}]},
        {"summary": "x", "comments": [{"path": "a", "line": 1, "body": ""}]},
        {"summary": "x", "comments": [{"path": "a", "line": 1, "body": "x"}] * 101},
    ],
)
def test_what_is_no_review_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="invalid arguments"):
        TOOL.parse(wrong)


def test_it_is_allowed_and_offered_only_where_it_is_switched_on() -> None:
    assert evaluate("review", "*", DEFAULTS) is Action.ALLOW
    for is_on in (False, True):
        tools = offered_tools(DEFAULTS, model_id="m", features=Features(review=is_on))
        assert (TOOL in tools) == is_on
