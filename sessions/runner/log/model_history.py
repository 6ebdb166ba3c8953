"""From the rows of a session to the messages that a model reads.

After a compaction they are: the request for the summary and the summary, then the end of the
earlier history that was kept verbatim, then what came later. Only these rows are loaded, by their
sequence numbers: what a turn costs does not depend on how long the session is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opencode_web.lib.compiled import CompiledQuery
from providers.llm.file_limits import note_left_out
from providers.llm.messages import (
    AssistantMessage as ModelAnswer,
)
from providers.llm.messages import (
    File,
    Message,
    ModelRef,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
)
from providers.llm.messages import (
    UserMessage as ModelPrompt,
)
from sessions.commands.marks import GO_ON, is_shell_step, is_subtask_step
from sessions.events.messages import CUT_AT_LENGTH, AssistantMessage, MessageError
from sessions.events.parts import (
    PART,
    AnyPart,
    CompactionPart,
    FilePart,
    ReasoningPart,
    SubtaskPart,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolPart,
)
from sessions.events.reasons import TurnReason
from sessions.models import Compaction, Part, Session
from sessions.models import Message as Row
from sessions.runner.context.epoch import ContextUpdate
from sessions.runner.log.long_texts import shown_texts

# Asked by the user message of a compaction, whose answer is the summary.
WHAT_WAS_DONE = "Sum up what we have done so far, so that you can go on from it."
SUBTASK_GIVEN = "The user has given a task to a sub-agent. The call that follows is theirs."
PRUNED = (
    "[This output was taken out of the conversation to make room. Call the tool again if you need "
    "it.]"
)
# Between the id of a call's part and that of a file in its result.
SEPARATOR = "/"
# Text files of a prompt stand in it as text.
_READ_AS_FILES = ("data:image/", "data:application/pdf")
_NEWEST_COMPACTION = CompiledQuery(
    lambda session_id, before: Compaction.objects.filter(
        session=session_id, seq__lt=before
    ).order_by("-seq")[:1],
    str,
    int,
)

_MESSAGES = CompiledQuery(
    lambda session_id, first, before: Row.objects.filter(
        session=session_id, seq__gte=first, seq__lt=before
    ).order_by("seq"),
    str,
    int,
    int,
)
_PARTS = CompiledQuery(
    lambda session_id, first, before: Part.objects.filter(
        session=session_id, seq__gte=first, seq__lt=before
    ).order_by("seq", "id"),
    str,
    int,
    int,
)


@dataclass(frozen=True)
class HistoryEntry:
    """A message of the history with its parts."""

    row: Row
    parts: list[AnyPart]
    # In place of its pictures the model reads their names: with them the request was too long.
    without_images: bool = False

    @property
    def is_prompt(self) -> bool:
        return self.row.role == "user"

    def to_messages(self, ref: ModelRef, room: int | None) -> tuple[Message, ...]:
        """Returns: what the model `ref` reads of it, which has this many tokens for a conversation,
        as far as that is known."""
        if self.is_prompt:
            return tuple(_prompt(self.parts, ref, room, without_images=self.without_images))
        if is_shell_step(self.parts):
            return ()  # the prompt has their outputs
        info = AssistantMessage.model_validate(self.row.data)
        answer = tuple(_answer(info, self.parts, ref, without_images=self.without_images))
        if answer and is_subtask_step(self.parts):
            # The model has not made this call: some ask for its thinking before one in its turn.
            return (*answer, ModelPrompt((Text(GO_ON),)))
        return answer


@dataclass(frozen=True)
class History:
    """What the model reads. `compacted` are the messages of the newest compaction, `entries` those
    that it left and those that came later.
    """

    compaction: Compaction | None
    compacted: tuple[HistoryEntry, ...]
    entries: list[HistoryEntry]

    @property
    def all(self) -> tuple[HistoryEntry, ...]:
        """The messages in the order in which they are read."""
        return (*self.compacted, *self.entries)

    @property
    def summary(self) -> str:
        """The text that stands for what came before."""
        texts = (part for entry in self.compacted[1:] for part in entry.parts)
        return "\n\n".join(part.text for part in texts if isinstance(part, TextPart))


def newest_compaction(session: Session, *, before: int | None = None) -> Compaction | None:
    """The compaction in force, or the one that was before this sequence number. One query."""
    end = session.visible_before if before is None else before
    return _NEWEST_COMPACTION.first(session.pk, end)


def load_history(session: Session, *, before: int | None = None) -> History:
    """Load what the model reads, up to a sequence number. Three queries, each of one index range.

    Messages of compactions that failed, or that a later one has taken in, are left out.
    """
    compaction = newest_compaction(session, before=before)
    first = compaction.history_from if compaction else 0
    span = session.pk, first, session.visible_before if before is None else before
    parts: dict[str, list[AnyPart]] = defaultdict(list)
    for row in _PARTS.all(*span):
        parts[row.message_id].append(PART.validate_python(row.data))
    pair: dict[str, HistoryEntry] = {}
    entries: list[HistoryEntry] = []
    own_ids = (compaction.message_id, compaction.summary_id) if compaction else ()
    for message in _MESSAGES.all(*span):
        entry = HistoryEntry(message, parts[message.pk])
        if message.pk in own_ids:
            pair[message.pk] = entry
        elif not _is_of_compaction(entry):
            entries.append(entry)
    compacted = tuple(pair[pk] for pk in own_ids if pk in pair)
    return History(compaction, compacted, _lightened(compaction, compacted, entries))


def _is_of_compaction(entry: HistoryEntry) -> bool:
    if entry.is_prompt:
        return any(isinstance(part, CompactionPart) for part in entry.parts)
    return entry.row.data.get("summary") is True


def _lightened(
    compaction: Compaction | None, compacted: Sequence[HistoryEntry], entries: list[HistoryEntry]
) -> list[HistoryEntry]:
    asked = [part for entry in compacted[:1] for part in entry.parts]
    if compaction is None or not any(
        isinstance(part, CompactionPart) and part.overflow for part in asked
    ):
        return entries
    return [replace(one, without_images=one.row.seq < compaction.seq) for one in entries]


def build_messages(
    session: Session,
    ref: ModelRef,
    updates: Sequence[ContextUpdate] = (),
    *,
    room: int | None = None,
) -> tuple[Message, ...]:
    """Returns: the history in order, as the model `ref` may read it. See `to_messages`."""
    return to_messages(load_history(session).all, ref, updates, room=room)


def to_messages(
    entries: Iterable[HistoryEntry],
    ref: ModelRef,
    updates: Sequence[ContextUpdate] = (),
    *,
    room: int | None = None,
) -> tuple[Message, ...]:
    """Returns: what the model `ref` reads of messages.

    `updates` are inserted where they were first sent. `room` as in `HistoryEntry.to_messages`.
    """
    messages: list[Message] = []
    ahead = list(updates)
    for entry in entries:
        while ahead and ahead[0].seq < entry.row.seq:
            messages.append(SystemMessage(ahead.pop(0).text))
        messages.extend(entry.to_messages(ref, room))
    messages.extend(SystemMessage(one.text) for one in ahead)
    return tuple(messages)


def _prompt(
    parts: list[AnyPart], ref: ModelRef, room: int | None, *, without_images: bool
) -> Iterable[Message]:
    content: list[Text | File] = []
    texts = [part for part in parts if isinstance(part, TextPart) and not part.ignored]
    shown = shown_texts(texts, room)
    for part in parts:
        if isinstance(part, TextPart) and part.text and not part.ignored:
            content.append(Text(shown[part.id]))
        elif isinstance(part, SubtaskPart):
            content.append(Text(SUBTASK_GIVEN))
        elif isinstance(part, CompactionPart):
            content.append(Text(WHAT_WAS_DONE))
        elif isinstance(part, FilePart) and part.url.startswith(_READ_AS_FILES):
            content.append(_name_of(part) if without_images else _file(part, ref))
    if content:
        yield ModelPrompt(tuple(content))


def _key_of(file: FilePart, call: ToolPart | None = None) -> str:
    """Returns: the name by which a request's file is found in the log again."""
    return SEPARATOR.join((call.id, file.id)) if call else file.id


def _file(file: FilePart, ref: ModelRef, call: ToolPart | None = None) -> File | Text:
    """The file, or what stands in its place for a model whose provider has refused it."""
    given = File(file.mime, file.url, file.filename or "", _key_of(file, call))
    reason = (file.refused or {}).get(str(ref))
    if reason is None:
        return given
    return Text(note_left_out(given, reason))


def _name_of(file: FilePart) -> Text:
    return Text(f"[Attached {file.mime}: {file.filename or 'picture'}]")


def _answer(
    info: AssistantMessage, parts: list[AnyPart], ref: ModelRef, *, without_images: bool
) -> Iterable[Message]:
    """One answer and the results of its calls.

    A failed answer is left out: it will be asked for again, and half of it must not stand twice.
    One that was stopped, cut off by its provider or at its length, or whose calls were interrupted,
    is what the person saw and stays.
    """
    calls = [part for part in parts if isinstance(part, ToolPart)]
    if info.error is not None and not _is_cut(info.error):
        aborted = info.error.name == "MessageAbortedError"
        if not aborted or (info.error.data.get("interrupted") and not calls):
            return
    content: list[Text | Reasoning | ToolCall] = []
    same_model = (info.providerID, info.modelID) == (ref.provider_id, ref.model_id)
    for part in parts:
        if isinstance(part, TextPart) and part.text:
            content.append(Text(part.text, part.metadata if same_model else None))
        elif isinstance(part, ReasoningPart) and same_model and (part.text or part.metadata):
            # Another model's thinking cannot be checked by this one's provider.
            content.append(Reasoning(part.text, part.metadata))
        elif isinstance(part, ToolPart):
            given = part.metadata if same_model else None
            content.append(ToolCall(part.callID, part.tool, part.state.input, given))
    if content:
        yield ModelAnswer(tuple(content))
    yield from (_result(part, ref, without_images=without_images) for part in calls)


def _is_cut(error: MessageError) -> bool:
    return error.name == CUT_AT_LENGTH or error.data.get("reason") == TurnReason.CUT


def _result(part: ToolPart, ref: ModelRef, *, without_images: bool) -> ToolResultMessage:
    state = part.state
    if isinstance(state, ToolCompleted):
        if state.time.compacted is not None:
            return ToolResultMessage(part.callID, part.tool, PRUNED, False)
        if without_images and state.attachments:
            names = [_name_of(file).text for file in state.attachments]
            output = "\n".join([state.output, *names])
            return ToolResultMessage(part.callID, part.tool, output, False)
        given = [_file(file, ref, part) for file in state.attachments or ()]
        notes = (one.text for one in given if isinstance(one, Text))
        files = tuple(one for one in given if isinstance(one, File))
        output = "\n".join([state.output, *notes])
        return ToolResultMessage(part.callID, part.tool, output, False, files)
    text = state.result if isinstance(state, ToolFailed) else "This call was interrupted."
    return ToolResultMessage(part.callID, part.tool, text, True)
