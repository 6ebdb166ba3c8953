"""What the guards and limits make of the calls of an answer, and of one that asks to be run."""

from __future__ import annotations

from collections.abc import Collection

from opencode_web.lib.reasons import Cause, english
from providers.llm.errors import ProviderError
from sessions.events.parts import ToolPart, ToolPending
from sessions.events.reasons import TurnReason
from sessions.runner.calls.guards import find_repeats
from sessions.runner.calls.repairs import called_name
from sessions.runner.calls.tool_context import CallContext
from sessions.runner.log.history import ENDS, REPEATS, repeated_call
from sessions.runner.log.settle import fail_call
from sessions.runner.log.steps import ProviderTurn
from tools.base import PermissionDenied, ToolError
from tools.context import PermissionAsk

_REPEATS = "The agent makes the same call for the third time in a row."


class Repetition(ProviderError):
    """The model writes the same piece of text again and again."""

    wire_name = "UnknownError"
    advice = TurnReason.ASK_OTHERWISE

    def __init__(self) -> None:
        super().__init__(reason=TurnReason.REPEATED_TEXT)


def guard_calls(
    turn: ProviderTurn, calls: list[ToolPart], *, after_text: Collection[str]
) -> list[ToolPart]:
    """Returns: the calls of an answer, failed when they may not run, marked when they repeat.

    `after_text`: see `find_repeats`.
    """
    if turn.no_calls:
        return [_ended(part, turn.no_calls) for part in calls]
    repeats = find_repeats(calls, after_text=after_text)
    return [
        part.model_copy(update={"metadata": {**(part.metadata or {}), REPEATS: repeats[part.id]}})
        if part.id in repeats and isinstance(part.state, ToolPending)
        else part
        for part in calls
    ]


def _ended(part: ToolPart, why: Cause) -> ToolPart:
    """The call, failed unless it is settled already."""
    if not isinstance(part.state, ToolPending):
        return part
    failed = fail_call(part, why, **{ENDS: english(why)}).part
    assert isinstance(failed, ToolPart)
    return failed


class Repeating(ToolError):
    """A rule denies making the same call again; the turn ends with this call."""

    ending = Cause(TurnReason.REPEATED_CALLS)


async def confirm_repeat(context: CallContext) -> None:
    """Have somebody confirm a call that repeats others, before it runs; let any other pass.

    Raises: Suspended; PermissionRejected; Repeating where a rule denies it.
    """
    part = context.part
    asked_by = repeated_call(part)
    if not asked_by:
        return
    name = called_name(part)
    ask = PermissionAsk(
        permission="doom_loop",
        patterns=(name,),
        always=(name,),
        metadata={"tool": name, "input": part.state.input, "reason": _REPEATS},
        call_id=asked_by,
    )
    try:
        await context.confirm(ask)
    except PermissionDenied as exc:
        raise Repeating(f"{_REPEATS} It was not run. {exc.message}") from exc
