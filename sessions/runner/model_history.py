"""From the rows of a session to the messages that a model reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from providers.messages import (
    AssistantMessage as ModelAnswer,
)
from providers.messages import (
    Image,
    Message,
    ModelRef,
    Reasoning,
    SystemMessage,
    Text,
    ToolCall,
    ToolResultMessage,
)
from providers.messages import (
    UserMessage as ModelPrompt,
)
from sessions.events.messages import CUT_AT_LENGTH, AssistantMessage
from sessions.events.parts import (
    AnyPart,
    FilePart,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolFailed,
    ToolPart,
)
from sessions.models import Part, Session
from sessions.runner.epoch import Told
from sessions.runner.history import PART


def build_messages(
    session: Session, ref: ModelRef, told: Sequence[Told] = ()
) -> tuple[Message, ...]:
    """Returns: the whole history in order, as the model `ref` may read it. Two queries.

    `told` is put in where it was told.
    """
    parts: dict[str, list[AnyPart]] = defaultdict(list)
    for row in Part.objects.visible(session).order_by("seq", "id"):
        parts[row.message_id].append(PART.validate_python(row.data))
    messages: list[Message] = []
    ahead = list(told)
    for message in session.messages.visible(session).order_by("seq"):
        while ahead and ahead[0].seq < message.seq:
            messages.append(SystemMessage(ahead.pop(0).text))
        own = parts[message.pk]
        if message.role == "user":
            messages.extend(_prompt(own))
        else:
            messages.extend(_answer(AssistantMessage.model_validate(message.data), own, ref))
    messages.extend(SystemMessage(one.text) for one in ahead)
    return tuple(messages)


def _prompt(parts: list[AnyPart]) -> Iterable[Message]:
    content: list[Text | Image] = []
    for part in parts:
        if isinstance(part, TextPart) and part.text and not part.ignored:
            content.append(Text(part.text))
        elif isinstance(part, FilePart) and part.url.startswith("data:image/"):
            content.append(Image(part.mime, part.url))
    if content:
        yield ModelPrompt(tuple(content))


def _answer(info: AssistantMessage, parts: list[AnyPart], ref: ModelRef) -> Iterable[Message]:
    """One answer and the results of its calls.

    A failed answer is left out: it will be asked for again, and half of it must not stand twice.
    One that was stopped or cut at its length, or whose calls were interrupted, is what the person
    saw and stays.
    """
    calls = [part for part in parts if isinstance(part, ToolPart)]
    if info.error is not None and info.error.name != CUT_AT_LENGTH:
        aborted = info.error.name == "MessageAbortedError"
        if not aborted or (info.error.data.get("interrupted") and not calls):
            return
    content: list[Text | Reasoning | ToolCall] = []
    same_model = (info.providerID, info.modelID) == (ref.provider_id, ref.model_id)
    for part in parts:
        if isinstance(part, TextPart) and part.text:
            content.append(Text(part.text))
        elif isinstance(part, ReasoningPart) and same_model and part.text:
            # Another model's thinking cannot be checked by this one's provider.
            content.append(Reasoning(part.text, part.metadata))
        elif isinstance(part, ToolPart):
            content.append(ToolCall(part.callID, part.tool, part.state.input))
    if content:
        yield ModelAnswer(tuple(content))
    yield from (_result(part) for part in calls)


def _result(part: ToolPart) -> ToolResultMessage:
    state = part.state
    if isinstance(state, ToolCompleted):
        images = tuple(Image(file.mime, file.url) for file in state.attachments or ())
        return ToolResultMessage(part.callID, part.tool, state.output, False, images)
    text = state.error if isinstance(state, ToolFailed) else "This call was interrupted."
    return ToolResultMessage(part.callID, part.tool, text, True)
