"""The newest messages of a session, read as typed values to decide on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from django.db.models import Exists, OuterRef

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.reasons import Told
from sessions.events.messages import AssistantMessage, UserMessage
from sessions.events.parts import (
    PART,
    AnyPart,
    ReasoningPart,
    RetryPart,
    StepStartPart,
    TextPart,
    ToolFailed,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sessions.events.reasons import read_call_cause
from sessions.models import Message, Part, Session
from teams.models import User

# In the metadata of a failed call: the sentence with which the turn ends.
ENDS = "ends"
# In the metadata of a running call, as it is stored: see `is_suspended`.
SUSPENDED = "parked"
# In the metadata of a call that repeats others: the `callID` of the one that asks for all of them.
REPEATS = "repeats"

_NEWEST = CompiledQuery(
    lambda session_id, before: Message.objects.filter(session=session_id, seq__lt=before).order_by(
        "-seq"
    )[:1],
    str,
    int,
)
_NEWEST_PROMPT = CompiledQuery(
    lambda session_id, before: (
        Message.objects.filter(session=session_id, seq__lt=before, role="user")
        .annotate(compacts=Exists(Part.objects.filter(message=OuterRef("pk"), type="compaction")))
        .select_related("author")
        .order_by("-seq")[:1]
    ),
    str,
    int,
)
_PARTS = CompiledQuery(
    lambda message_id: Part.objects.filter(message=message_id).order_by("seq", "id"), str
)


@dataclass(frozen=True)
class Prompted:
    """The newest user message and who wrote it."""

    info: UserMessage
    author: User | None
    seq: int
    # It asks for a summary of the conversation instead of an answer.
    compacts: bool = False


@dataclass(frozen=True)
class Answer:
    """The newest assistant message."""

    info: AssistantMessage
    parts: list[AnyPart]

    @property
    def tools(self) -> list[ToolPart]:
        return [part for part in self.parts if isinstance(part, ToolPart)]

    @property
    def pending(self) -> list[ToolPart]:
        """Calls that are to be run, or run again: they wait for somebody, or for us."""
        return [
            part for part in self.tools if isinstance(part.state, ToolPending) or is_suspended(part)
        ]

    @property
    def running(self) -> list[ToolPart]:
        """Calls that may have had effects, so that they must not be run again."""
        began = (part for part in self.tools if isinstance(part.state, ToolRunning))
        return [part for part in began if not is_suspended(part)]

    @property
    def growing(self) -> list[TextPart | ReasoningPart]:
        """Text that was never ended."""
        texts = (part for part in self.parts if isinstance(part, TextPart | ReasoningPart))
        return [part for part in texts if part.time is not None and part.time.end is None]

    @property
    def is_half(self) -> bool:
        """Whether its stream has not come to an end."""
        return self.info.time.completed is None and self.info.finish is None

    @property
    def says_something(self) -> bool:
        texts = (part for part in self.parts if isinstance(part, TextPart))
        return any(part.text.strip() for part in texts)

    @property
    def failed_tries(self) -> int:
        """How often its provider has failed, in this answer and in those it takes the place of."""
        tries = 0
        for part in self.parts:
            if isinstance(part, RetryPart):
                # The model that goes on has failed in nothing yet.
                tries = 0 if part.fallback else max(tries, part.attempt)
        return tries

    @property
    def start(self) -> StepStartPart | None:
        """The begin of the step, with the worktree before its first change once there was one."""
        starts = (part for part in self.parts if isinstance(part, StepStartPart))
        return next(starts, None)

    @property
    def was_rejected(self) -> bool:
        """Whether a person refused a call without telling the agent what to do instead."""
        failed = (part.state for part in self.tools if isinstance(part.state, ToolFailed))
        return any((state.metadata or {}).get("rejected") is True for state in failed)

    @property
    def ending(self) -> Told:
        """Why the turn ends with the calls of this answer, when a limit or a guard ended it."""
        failed = (part.state for part in self.tools if isinstance(part.state, ToolFailed))
        marks = next((state.metadata for state in failed if (state.metadata or {}).get(ENDS)), None)
        return read_call_cause(marks) or str(marks[ENDS]) if marks else ""

    @property
    def overflowed(self) -> bool:
        """Whether its request was longer than the model can read, so that asking again is vain."""
        return self.info.error is not None and self.info.error.name == "ContextOverflowError"

    @property
    def was_interrupted(self) -> bool:
        """Whether its worker died, so that the turn is to be continued."""
        return self.info.error is not None and self.info.error.data.get("interrupted") is True


def is_suspended(part: ToolPart) -> bool:
    """Whether a running call waits for a person or for its sub-agent, so that it is safe to run
    again."""
    state = part.state
    return isinstance(state, ToolRunning) and (state.metadata or {}).get(SUSPENDED) is True


def repeated_call(part: ToolPart) -> str:
    """Returns: the `callID` of the call that asks whether this one may repeat others, or ""."""
    return str((part.metadata or {}).get(REPEATS, ""))


def newest_prompt(session: Session) -> Prompted | None:
    """Returns: None in a session without any user message."""
    row = _NEWEST_PROMPT.first(session.pk, session.visible_before)
    if row is None:
        return None
    # Any: an annotation is no field of the model.
    compacts = bool(cast(Any, row).compacts)
    return Prompted(UserMessage.model_validate(row.data), row.author, row.seq, compacts)


def newest_answer(session: Session) -> Answer | None:
    """Returns: the assistant message when it is the newest of all, else None."""
    row = _NEWEST.first(session.pk, session.visible_before)
    if row is None or row.role != "assistant":
        return None
    return to_answer(row)


def to_answer(row: Message) -> Answer:
    """Read a row and its parts as typed values."""
    parts = [PART.validate_python(part.data) for part in _PARTS.all(row.pk)]
    return Answer(AssistantMessage.model_validate(row.data), parts)
