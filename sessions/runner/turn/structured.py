"""Answers as JSON: the model gives them by calling a tool whose parameters are the wanted schema.

A call that does not fit, or an answer without one, goes back to the model as a failed call until
the retries of the prompt are used up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause
from providers.llm.messages import ProviderRequest, ToolDefinition
from sessions.events.messages import MessageError, UserMessage
from sessions.events.parts import DoneTime, ToolCompleted, ToolPart, ToolPending
from sessions.events.reasons import TurnReason, told_error
from sessions.models import Message, Part, Session
from sessions.output_format import read_format
from sessions.runner.log.settle import fail_call, now_ms
from sessions.runner.log.steps import ProviderTurn, Wanted

TOOL = "StructuredOutput"
_DESCRIPTION = """\
Gives your final answer. The person, often a program, reads nothing but the arguments of this \
call: text that you write beside it is lost.

Use the other tools first as far as you need them. When you know the answer, call this once, by \
itself, with arguments that fit the schema. The turn ends with it."""
# Clients know the captured answer by this sentence.
_CAPTURED = "Structured output captured successfully."
_NOT_CALLED = f"The answer has to be given by calling {TOOL}; text alone is not read."
_TOO_LATE = "Not run: the final answer was given beside this call."


@dataclass(frozen=True)
class Settled:
    """The calls of an answer, and what they mean for its message."""

    calls: list[ToolPart]
    structured: JsonObject | None = None
    error: MessageError | None = None


def wanted_output(session: Session, prompt: UserMessage) -> Wanted | None:
    """Returns: None for a prompt that wants text."""
    schema = read_format(prompt.format)
    if schema is None:
        return None
    newest = Message.objects.filter(pk=prompt.id, session=session).values("seq")
    failed = Part.objects.filter(
        session=session,
        type="tool",
        message__seq__gt=newest,
        data__tool=TOOL,
        data__state__status="error",
    )
    return Wanted(schema, max(0, schema.retries - failed.count()))


def with_output_tool(
    request: ProviderRequest, wanted: Wanted, *, is_last: bool = False
) -> ProviderRequest:
    """Offer the tool that takes the answer; in the last step no other."""
    schema = {key: value for key, value in wanted.format.schema.items() if key != "$schema"}
    tool = ToolDefinition(
        TOOL, _DESCRIPTION, {"type": "object", "properties": {}, **schema}, fits_exactly=True
    )
    tools = (tool,) if is_last else (*request.tools, tool)
    return replace(request, tools=tools, tool_choice="required")


def settle_output(turn: ProviderTurn, calls: list[ToolPart]) -> Settled:
    """Take the answer out of the calls of a stream that came to its end."""
    wanted = turn.output
    if wanted is None:
        return Settled(calls)
    problems = {part.id: _problem(part, wanted) for part in calls if part.tool == TOOL}
    given = next((part for part in calls if problems.get(part.id) == ""), None)
    if given is not None:
        others = [_failed(part, problems.get(part.id) or _TOO_LATE) for part in calls]
        kept = [
            _captured(part) if part is given else other
            for part, other in zip(calls, others, strict=True)
        ]
        return Settled(kept, structured=given.state.input)
    if calls and not problems:
        return Settled(calls)
    if not calls:
        calls = [_uncalled(turn)]
        problems = {calls[0].id: _NOT_CALLED}
    if wanted.retries_left:
        return Settled([_failed(part, problems.get(part.id, "")) for part in calls])
    cause = Cause(TurnReason.WRONG_FORM, {"problem": next(iter(problems.values()))})
    more: JsonObject = {"retries": wanted.format.retries}
    error = told_error(cause, name="StructuredOutputError", more=more)
    return Settled([_failed(part, problems.get(part.id, _TOO_LATE)) for part in calls], error=error)


def _problem(part: ToolPart, wanted: Wanted) -> str:
    if isinstance(part.state, ToolPending) and part.state.raw:
        return "The arguments are not a JSON object."
    return wanted.format.problem(part.state.input)


def _failed(part: ToolPart, problem: str) -> ToolPart:
    """The call with its problem; as it is when it has none, so that it is run."""
    if not problem:
        return part
    failed = fail_call(part, problem).part
    assert isinstance(failed, ToolPart)
    return failed


def _captured(part: ToolPart) -> ToolPart:
    now = now_ms()
    state = ToolCompleted(
        input=part.state.input,
        output=_CAPTURED,
        title="Structured output",
        metadata={"valid": True},
        time=DoneTime(start=now, end=now),
    )
    return part.model_copy(update={"state": state})


def _uncalled(turn: ProviderTurn) -> ToolPart:
    """The call that the model left out, for it to be answered with what is wrong."""
    return ToolPart(
        id=new_id("prt"),
        sessionID=turn.info.sessionID,
        messageID=turn.info.id,
        callID=f"call_{turn.info.id}",
        tool=TOOL,
        state=ToolPending(),
        metadata={"synthetic": True},
    )
