"""What a command has done before the first turn of its prompt: shell parts, and a sub-agent.

They are calls of tools in an answer of their own, so that rules decide, people are asked, and a
crash or a stop settles them like any other call. Once those of the shell have come to an end, their
outputs take the place of the shell parts in the prompt, and the model reads that alone. The report
of a sub-agent it reads as the result of a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.access import may_prompt
from sessions.commands.marks import KEY, Mark, call_of, is_typed, read_mark, with_mark
from sessions.events.parts import (
    PART,
    AnyPart,
    StepStartPart,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolPart,
    ToolPending,
)
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated
from sessions.inbox import parts_of
from sessions.models import Part, Session, SessionInput
from sessions.runner.answers import new_answer
from sessions.runner.history import Answer, Prompted
from sessions.runner.steps import ToolStep

SHELL = "bash"
# What the model is asked after the report of a command's sub-agent.
GO_ON = "Sum up for me what came of this, and go on with your task if there is more to do."


def command_step(
    session: Session, prompt: Prompted, answer: Answer | None, promoted: Sequence[SessionInput]
) -> ToolStep | None:
    """Begin the calls of commands whose prompts come next, once each.

    `answer` is the newest message when it is one; the outputs of shell parts that came to an end in
    it are put into their prompts. `promoted` are the inputs that were promoted just now.

    Returns: None when the model's turn is next.
    """
    if answer is None:
        # None was promoted just now where the turn had to wait, for a budget for example.
        ids = [row.pk for row in promoted if _is_command(row)] if promoted else [prompt.info.id]
        marked = _marked(session, ids)
        calls = [call for part in marked for call in _shell_calls(part)]
    else:
        filled = _fill_in(session, answer)
        if not filled:
            return None
        marked, calls = filled, []
    if not calls:
        calls = [call for part in marked[-1:] for call in _subtask_calls(session, part)]
    if not calls or not may_prompt(prompt.author, session.project):
        return None  # the turn that follows says it
    return _begin(session, prompt, calls)


def _is_command(row: SessionInput) -> bool:
    return any(read_mark(part) is not None for part in parts_of(row))


def _marked(session: Session, ids: Sequence[str]) -> list[TextPart]:
    if not ids:
        return []
    # Not from the inputs: their parts may have got other ids.
    rows = Part.objects.filter(session=session, message__in=ids, type="text")
    parts = (PART.validate_python(row.data) for row in rows.order_by("seq", "id"))
    return [part for part in parts if isinstance(part, TextPart) and read_mark(part) is not None]


def _shell_calls(part: TextPart) -> Iterable[tuple[str, JsonObject, JsonObject]]:
    mark = read_mark(part)
    assert mark is not None
    if mark.typed:
        line = "".join(piece.text for piece in mark.pieces)
        yield SHELL, {"command": line, "description": "Typed by a person"}, {"typed": True}
        return
    for number, piece in enumerate(mark.pieces):
        if piece.is_shell:
            given: JsonObject = {"command": piece.text, "description": f"For /{mark.name}"[:80]}
            yield SHELL, given, {"part": part.id, "piece": number}


def _subtask_calls(
    session: Session, part: TextPart
) -> Iterable[tuple[str, JsonObject, JsonObject]]:
    mark = read_mark(part)
    if mark is None or mark.subtask is None:
        return
    # From here on it is in the log as a call; a second one must never follow.
    done = Mark(mark.name, mark.arguments)
    append(session, [PartUpdated(part=with_mark(part, done))])
    given: JsonObject = {
        "description": mark.subtask.description,
        "prompt": part.text,
        "subagent_type": mark.subtask.agent,
    }
    yield "task", given, {}


def _begin(
    session: Session, prompt: Prompted, calls: Sequence[tuple[str, JsonObject, JsonObject]]
) -> ToolStep:
    info = new_answer(session, prompt.info).model_copy(update={"finish": "tool-calls"})
    address = {"sessionID": session.pk, "messageID": info.id}
    parts = [
        ToolPart(
            id=new_id("prt"),
            **address,
            callID=new_id("prt"),
            tool=tool,
            state=ToolPending(input=given),
            metadata={KEY: mark},
        )
        for tool, given, mark in calls
    ]
    start = StepStartPart(id=new_id("prt"), **address)
    events = [PartUpdated(part=part) for part in parts]
    append(session, [MessageUpdated(info=info), PartUpdated(part=start), *events])
    return ToolStep(session=session, info=info, start=start, calls=parts, waiting=0)


def _fill_in(session: Session, answer: Answer) -> list[TextPart]:
    """Put outputs into the prompts that they are for. Returns: those prompts' texts."""
    outputs: dict[str, dict[int, str]] = {}
    for call in answer.tools:
        mark = call_of(call)
        if mark and isinstance(mark.get("piece"), int):
            outputs.setdefault(str(mark["part"]), {})[int(str(mark["piece"]))] = _output(call)
    if not outputs:
        return []
    filled = []
    for row in Part.objects.filter(session=session, pk__in=outputs).order_by("seq", "id"):
        part = PART.validate_python(row.data)
        known = read_mark(part)
        if known is None or not known.pieces or not isinstance(part, TextPart):
            continue
        texts = (
            outputs[part.id].get(number, piece.written) if piece.is_shell else piece.text
            for number, piece in enumerate(known.pieces)
        )
        done = part.model_copy(update={"text": "".join(texts).strip()})
        filled.append(with_mark(done, Mark(known.name, known.arguments, subtask=known.subtask)))
    append(session, [PartUpdated(part=part) for part in filled])
    return filled


def _output(call: ToolPart) -> str:
    state = call.state
    if call.tool != SHELL:
        return "(Without output: the rules take the shell away here.)"
    if isinstance(state, ToolCompleted):
        return state.output.strip()
    reason = state.error if isinstance(state, ToolFailed) else "it was interrupted"
    return f"(Without output: {reason})"


def is_shell_step(parts: Sequence[AnyPart]) -> bool:
    """Whether an answer has only calls of shell parts, whose outputs the prompt has."""
    marks = [call_of(part) for part in parts if isinstance(part, ToolPart)]
    return bool(marks) and all(mark and "piece" in mark for mark in marks)


def is_typed_step(session: Session, answer: Answer) -> bool:
    """Whether an answer is a shell line that a person typed, and nothing was said since."""
    if not any(is_typed(part) for part in answer.parts):
        return False
    prompts = _marked(session, [answer.info.parentID])
    return any((mark := read_mark(part)) is not None and mark.typed for part in prompts)


def is_subtask_step(parts: Sequence[AnyPart]) -> bool:
    """Whether an answer is the call of a command's sub-agent."""
    return any(call_of(part) == {} for part in parts)
