"""What an agent asks people, and what they answer."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen


class QuestionOption(Frozen):
    """Field names are the wire's, here and below."""

    label: str
    description: str


class QuestionInfo(Frozen):
    """Without `multiple` one answer is wanted."""

    question: str
    header: str
    options: list[QuestionOption]
    multiple: bool | None = None


class QuestionAsked(Frozen):
    """A tool call waits for a person; the row and the card are made of this.

    Units: `until` is milliseconds since the epoch, absent where nobody has set a deadline.
    """

    type: Literal["question.asked"] = "question.asked"
    id: str
    message_id: str
    call_id: str
    agent: str
    questions: list[QuestionInfo]
    until: int | None = None


class QuestionReplied(Frozen):
    """`answers` has a list for each question.

    Without a person's answer `reply` is cancelled (the turn was stopped) or expired.
    """

    type: Literal["question.replied"] = "question.replied"
    id: str
    reply: Literal["answered", "reject", "cancelled", "expired"]
    answers: list[list[str]] = []
    by_id: int | None = None
