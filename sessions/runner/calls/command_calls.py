"""What a prompt has done before its first turn: shell parts, files to read, and sub-agents.

They are calls of tools in an answer of their own, so that rules decide, people are asked, and a
crash or a stop settles them like any other call. Once shell parts and reads have come to an end,
their outputs take their place in the prompt, and the model reads that alone. The report of a
sub-agent it reads as the result of a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.authors import may_prompt
from sessions.commands.marks import (
    KEY,
    SUBTASK,
    Mark,
    call_of,
    is_shell_step,
    is_subtask,
    is_typed,
    read_mark,
    with_mark,
)
from sessions.events.parts import (
    PART,
    AnyPart,
    FilePart,
    PartModel,
    StepStartPart,
    SubtaskPart,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolPart,
    ToolPending,
)
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated
from sessions.files import PICTURES, READ, contents, resource_contents
from sessions.inbox import parts_of
from sessions.mcp.servers import READ_RESOURCE, resource_pattern
from sessions.models import Part, Session, SessionInput
from sessions.runner.log.answers import model_for, new_answer
from sessions.runner.log.history import Answer, Prompted, newest_prompt
from sessions.runner.log.steps import ToolStep
from tools.context import PermissionAsk

SHELL, TASK = "bash", "task"
# The model reads the others itself.
_MAX_READS = 20


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
        calls += [_read_call(part) for part in _to_read(session, ids)]
    elif is_shell_step(answer.parts):
        ids = [prompt.info.id, *_fill_in(session, answer)]
        marked, calls = _marked(session, ids), []
    else:
        return None
    model = None
    if not calls:
        subtasks = _subtasks(session, ids)
        calls = [call for part in marked[-1:] for call in _subtask_calls(session, part)]
        # Those of commands name none.
        model = _common_model(subtasks) if not calls else None
        calls += [_call_of(part) for part in subtasks]
    if not calls or not may_prompt(prompt.author, session):
        return None  # the turn that follows says it
    return _begin(session, prompt, calls, model)


def _is_command(row: SessionInput) -> bool:
    return any(
        isinstance(part, SubtaskPart) or read_mark(part) is not None or _is_to_read(part)
        for part in parts_of(row)
    )


def _subtasks(session: Session, ids: Sequence[str]) -> list[SubtaskPart]:
    """The parts of these messages whose sub-agents have not been called."""
    if not ids:
        return []
    rows = Part.objects.filter(session=session, message__in=ids, type="subtask")
    parts = [PART.validate_python(row.data) for row in rows.order_by("seq", "id")]
    if not parts:
        return []
    calls = Part.objects.filter(session=session, type="tool")
    begun = set(calls.values_list(f"data__metadata__{KEY}__{SUBTASK}", flat=True))
    return [part for part in parts if isinstance(part, SubtaskPart) and part.id not in begun]


def _common_model(subtasks: Sequence[SubtaskPart]) -> PartModel | None:
    """The model that all of them name. Where they differ, each sub-agent looks its own up."""
    models = {part.model for part in subtasks}
    return models.pop() if len(models) == 1 else None


def _call_of(part: SubtaskPart) -> tuple[str, JsonObject, JsonObject]:
    given: JsonObject = {
        "description": part.description,
        "prompt": part.prompt,
        "subagent_type": part.agent,
    }
    return TASK, given, {SUBTASK: part.id}


def _is_to_read(part: AnyPart) -> bool:
    return isinstance(part, TextPart) and isinstance((part.metadata or {}).get(READ), dict)


def _to_read(session: Session, ids: Sequence[str]) -> list[TextPart]:
    """The texts of these messages that stand for files, the first of them."""
    texts = _texts(session, ids)
    return [part for part in texts if _is_to_read(part)][:_MAX_READS]


def _read_call(part: TextPart) -> tuple[str, JsonObject, JsonObject]:
    given = (part.metadata or {})[READ]
    assert isinstance(given, dict)
    return READ_RESOURCE if "uri" in given else READ, given, {"part": part.id, "piece": 0}


def _marked(session: Session, ids: Sequence[str]) -> list[TextPart]:
    return [part for part in _texts(session, ids) if read_mark(part) is not None]


def _texts(session: Session, ids: Sequence[str]) -> list[TextPart]:
    if not ids:
        return []
    # Not from the inputs: their parts may have got other ids.
    rows = Part.objects.filter(session=session, message__in=ids, type="text")
    parts = (PART.validate_python(row.data) for row in rows.order_by("seq", "id"))
    return [part for part in parts if isinstance(part, TextPart)]


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
    yield TASK, given, {}


def _begin(
    session: Session,
    prompt: Prompted,
    calls: Sequence[tuple[str, JsonObject, JsonObject]],
    model: PartModel | None,
) -> ToolStep:
    info = new_answer(session, prompt.info)
    chosen = model_for(info, model).model_dump()
    info = info.model_copy(update={"finish": "tool-calls", **chosen})
    address = {"sessionID": session.pk, "messageID": info.id}
    start = StepStartPart(id=new_id("prt"), **address)
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
    events = [PartUpdated(part=part) for part in parts]
    append(session, [MessageUpdated(info=info), PartUpdated(part=start), *events])
    return ToolStep(session=session, info=info, start=start, calls=parts, waiting=0)


def _fill_in(session: Session, answer: Answer) -> list[str]:
    """Put outputs into the prompts that they are for. Returns: the ids of those messages."""
    calls: dict[str, dict[int, ToolPart]] = {}
    for call in answer.tools:
        mark = call_of(call) or {}
        # What was imported or edited may have any marks.
        if isinstance(piece := mark.get("piece"), int):
            calls.setdefault(str(mark.get("part")), {})[piece] = call
    filled: list[AnyPart] = []
    for row in Part.objects.filter(session=session, pk__in=calls).order_by("seq", "id"):
        part = PART.validate_python(row.data)
        if not isinstance(part, TextPart):
            continue
        if _is_to_read(part) and 0 in calls[part.id]:
            filled += _with_file(part, calls[part.id][0])
            continue
        known = read_mark(part)
        if known is None or not known.pieces:
            continue
        outputs = {number: _output(call) for number, call in calls[part.id].items()}
        texts = (
            outputs.get(number, piece.written) if piece.is_shell else piece.text
            for number, piece in enumerate(known.pieces)
        )
        done = part.model_copy(update={"text": "".join(texts).strip()})
        filled.append(with_mark(done, Mark(known.name, known.arguments, subtask=known.subtask)))
    append(session, [PartUpdated(part=part) for part in filled])
    return [part.messageID for part in filled]


def _with_file(part: TextPart, call: ToolPart) -> Iterable[AnyPart]:
    """The text with the file's lines in it, and the picture that the file is."""
    given = (part.metadata or {})[READ]
    rest = {key: value for key, value in (part.metadata or {}).items() if key != READ}
    state, text, files = call.state, part.text, list[FilePart]()
    if isinstance(given, dict) and "uri" in given:
        text, files = _of_resource(given, call)
    elif call.tool == READ and isinstance(state, ToolFailed):
        text = contents(state.input, state.error)
    elif call.tool == READ and isinstance(state, ToolCompleted):
        files = state.attachments or []
        if all(file.mime in PICTURES for file in files):
            text = contents(state.input, state.output)
        else:
            files = []
    yield part.model_copy(update={"text": text, "metadata": rest or None})
    address = {"sessionID": part.sessionID, "messageID": part.messageID}
    for file in files:
        yield file.model_copy(update={"id": new_id("prt"), **address})


def _of_resource(given: JsonObject, call: ToolPart) -> tuple[str, list[FilePart]]:
    """The text with what the resource holds, or why it was not read, and its pictures."""
    state = call.state
    if call.tool == READ_RESOURCE and isinstance(state, ToolCompleted):
        found = state.attachments or []
        pictures = [file for file in found if file.mime in PICTURES]
        left = (f"[A file of type {one.mime} is left out]" for one in found if one not in pictures)
        return resource_contents(given, "\n\n".join(filter(None, [state.output, *left]))), pictures
    why = "The project has no MCP server that could be asked, or the rules do not let it be read."
    if call.tool == READ_RESOURCE and isinstance(state, ToolFailed):
        why = state.error
    return resource_contents(given, f"It could not be read: {why}"), []


def _output(call: ToolPart) -> str:
    state = call.state
    if call.tool != SHELL:
        return "(Without output: the rules take the shell away here.)"
    if isinstance(state, ToolCompleted):
        return state.output.strip()
    if isinstance(state, ToolFailed) and state.result != state.error:
        return state.result
    reason = state.error if isinstance(state, ToolFailed) else "it was interrupted"
    return f"(Without output: {reason})"


def is_typed_step(session: Session, answer: Answer) -> bool:
    """Whether an answer is a shell line that a person typed, and nothing was said since."""
    if not any(is_typed(part) for part in answer.parts):
        return False
    prompts = _marked(session, [answer.info.parentID])
    return any((mark := read_mark(part)) is not None and mark.typed for part in prompts)


def was_asked_for(session: Session, part: ToolPart, ask: PermissionAsk) -> bool:
    """Whether a person has asked for this sub-agent, by a command, a part, or a mention of it; or
    for this resource of an MCP server, by a mention."""
    if part.tool == READ_RESOURCE:
        return _is_mentioned(session, part, ask)
    if ask.permission != TASK:
        return False
    prompt = newest_prompt(session)
    if is_subtask(call_of(part)) or prompt is None:
        return prompt is not None
    mentions = Part.objects.filter(message=prompt.info.id, type="agent")
    named = set(mentions.values_list("data__name", flat=True))
    return named.issuperset(ask.patterns)


def _is_mentioned(session: Session, part: ToolPart, ask: PermissionAsk) -> bool:
    """Not by the prompt of somebody else, whose sign-ins are not those of the turn."""
    prompt, mark = newest_prompt(session), call_of(part)
    if prompt is None or not mark or ask.permission != "read":
        return False
    row = Part.objects.filter(message=prompt.info.id, pk=str(mark.get("part")), type="text").first()
    given = (row.data.get("metadata") or {}).get(READ) if row is not None else None
    # Plugins may have changed what is read.
    return isinstance(given, dict) and ask.patterns == (resource_pattern(given),)
