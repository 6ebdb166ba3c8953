"""What a tool tells the model instead of a result.

ToolError
├── DiskFull            the server's disk is full; the turn ends
├── PermissionDenied    a rule forbids it; the turn goes on
└── PermissionRejected  a person said no
    └── QuestionDismissed  a person did not want to be asked
"""

from __future__ import annotations

from typing import ClassVar

from opencode_web.lib.disk import DISK_FULL
from opencode_web.lib.reasons import Cause, english


class ToolError(Exception):
    """The call failed. The message is for the model: what happened, and what to do now."""

    # Where the turn ends with this call: why, for people.
    ending: ClassVar[Cause | None] = None

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class DiskFull(ToolError):
    """Trying again, or another way, would fill it further."""

    ending = DISK_FULL

    def __init__(self) -> None:
        super().__init__(english(DISK_FULL))


class PermissionDenied(ToolError):
    """A rule denies the call; nobody was asked."""


class PermissionRejected(ToolError):
    """A person rejected the call, perhaps with a word to the agent.

    `reason` says why it counts as rejected where nobody did.
    """

    def __init__(self, *, feedback: str | None = None, reason: str = "") -> None:
        # The sentence is fixed: clients recognise a rejected call by it.
        text = "The user rejected permission to use this specific tool call."
        if feedback:
            text = f"{text[:-1]} with the following feedback: {feedback}"
        elif reason:
            text = f"{text[:-1]}: {reason}."
        super().__init__(text)
        self.feedback = feedback


class StoppedByPerson(Exception):
    """A person has ended what `ToolContext.stoppable` runs. `name` is theirs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class QuestionDismissed(PermissionRejected):
    """A person dismissed the question, which ends the turn like a rejection."""

    def __init__(self) -> None:
        super().__init__()
        self.message = "The user dismissed this question"
