"""Into plan mode and out of it. Both only ask: what a person agreed to is what the runner does."""

from __future__ import annotations

import asyncio

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import Question, QuestionOption, ToolContext
from tools.errors import PermissionRejected
from tools.paths import locate, read_bytes
from tools.text_file import decode_text, displayable

_MAX_PLAN_BYTES = 256 * 1024
_SHOWN_CHARS = 12_000
_YES, _NO = "Yes", "No"


class EnterParams(Params):
    """Why to plan."""

    reason: str = Field(
        "", max_length=1_000, description="What makes a plan worth it, in one or two sentences."
    )


class ExitParams(Params):
    """Nothing is needed: the plan is in its file."""


async def enter(params: EnterParams, context: ToolContext) -> ToolResult:
    """Propose to plan first. A no is no rejection: the work then goes on without a plan."""
    question = Question(
        question=f"Plan this first, before anything is changed?\n\n{params.reason}".strip(),
        header="Plan mode",
        options=(
            QuestionOption(
                _YES, "The plan agent looks around, asks, and writes a plan for you to approve."
            ),
            QuestionOption(_NO, "Go on without a plan."),
        ),
    )
    answer = await _ask(question, context)
    if answer == _YES:
        return ToolResult(
            title="Switching to plan agent",
            output="The user agreed to plan first. Plan mode is on from the next message on.",
            metadata={"agent": "plan", "plan": context.plan_path},
        )
    said = f"The user said: {answer}." if answer not in ("", _NO) else "The user wants no plan."
    return ToolResult(
        title="Going on without a plan",
        output=f"{said} Go on with the work in the mode you are in.",
        metadata={},
    )


async def leave(params: ExitParams, context: ToolContext) -> ToolResult:
    """Show the plan and have a person approve it.

    Raises: ToolError without a plan; PermissionRejected for a no, or with what is to be changed.
    """
    plan = await asyncio.to_thread(_read_plan, context)
    question = Question(
        question=f"Approve this plan and have it carried out?\n\n{plan}",
        header="Plan",
        options=(
            QuestionOption(_YES, "Switch to the build agent, which carries the plan out now."),
            QuestionOption(_NO, "Stay in plan mode; the turn ends here."),
        ),
    )
    answer = await _ask(question, context)
    if answer != _YES:
        raise PermissionRejected(feedback=answer if answer not in ("", _NO) else None)
    return ToolResult(
        title="Switching to build agent",
        output="The user approved the plan. Plan mode is off from the next message on.",
        metadata={"agent": "build", "plan": context.plan_path},
    )


async def _ask(question: Question, context: ToolContext) -> str:
    (answer,) = await context.ask_user([question])
    return ", ".join(answer).strip()


def _read_plan(context: ToolContext) -> str:
    try:
        data = read_bytes(locate(context, context.plan_path), max_bytes=_MAX_PLAN_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        data = b""
    text = displayable(decode_text(data)[0]).strip()
    if not text:
        raise ToolError(
            f"There is no plan yet. Write it to {context.plan_path}, then call plan_exit again."
        )
    if len(text) > _SHOWN_CHARS:
        return f"{text[:_SHOWN_CHARS]}…\n\n(The whole plan is in {context.plan_path}.)"
    return text


_ENTER, _EXIT = (text.strip() for text in load_description(__file__).split("\n---\n"))

TOOLS = (
    Tool("plan_enter", EnterParams, enter, "plan_enter", _ENTER),
    Tool("plan_exit", ExitParams, leave, "plan_exit", _EXIT),
)
