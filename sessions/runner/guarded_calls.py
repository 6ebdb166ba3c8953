"""What the guards and limits make of the calls of an answer, and of one that asks to be run."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.json import JsonObject
from providers.errors import ProviderError
from sessions.events.parts import ToolPart, ToolPending
from sessions.runner.guards import Call, find_loops
from sessions.runner.history import ENDS
from sessions.runner.repairs import called_name
from sessions.runner.settle import fail_call
from sessions.runner.steps import ProviderTurn
from sessions.runner.tool_context import CallContext
from tools.base import PermissionDenied, ToolError
from tools.context import PermissionAsk

# In the metadata of a call: the sentence about the circle that it closes.
CIRCLE = "circle"
_REPEATED = gettext_noop("Stopped: the model repeated one piece of text without end.")


class Repetition(ProviderError):
    """The model writes the same piece of text again and again."""

    wire_name = "UnknownError"
    advice = gettext_noop("Ask again, in other words or with another model.")

    def __init__(self) -> None:
        super().__init__(_REPEATED)

    def _data(self, message: str, provider_id: str) -> JsonObject:
        return {"message": message}


def guard_calls(turn: ProviderTurn, calls: list[ToolPart], text: str) -> list[ToolPart]:
    """Returns: the calls of an answer, failed when they may not run, marked when they repeat."""
    if turn.no_calls:
        return [_ended(part, turn.no_calls) for part in calls]
    compared = [Call(part.tool, part.state.input) for part in calls]
    circles = find_loops(turn.request.messages, compared, text)
    return [
        part.model_copy(update={"metadata": {**(part.metadata or {}), CIRCLE: circle}})
        if circle and isinstance(part.state, ToolPending)
        else part
        for part, circle in zip(calls, circles, strict=True)
    ]


def _ended(part: ToolPart, why: str) -> ToolPart:
    """The call, failed unless it is settled already."""
    if not isinstance(part.state, ToolPending):
        return part
    failed = fail_call(part, why, **{ENDS: why}).part
    assert isinstance(failed, ToolPart)
    return failed


class Circling(ToolError):
    """A rule denies going on in a circle; the turn ends with this call."""

    ending = gettext_noop("Stopped: the agent repeated itself.")


async def confirm_repeat(context: CallContext) -> None:
    """Have somebody confirm a call that closes a circle, before it runs; let any other pass.

    Raises: Parked; PermissionRejected; Circling where a rule denies it.
    """
    part = context.part
    circle = (part.metadata or {}).get(CIRCLE)
    if not circle:
        return
    name = called_name(part)
    ask = PermissionAsk(
        permission="doom_loop",
        patterns=(name,),
        always=(name,),
        metadata={"tool": name, "input": part.state.input, "reason": circle},
    )
    try:
        await context.confirm(ask)
    except PermissionDenied as exc:
        raise Circling(f"{circle} It was not run. {exc.message}") from exc
