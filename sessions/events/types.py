"""Every durable event of a session. A stored one is read back by its `type`.

Changing a shape needs a new `schema_version` and a golden log in tests/sessions/events/golden/.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from pydantic import Field, TypeAdapter

from opencode_web.lib.json import JsonObject
from sessions.events.context import ContextUpdated, EpochEnded, EpochStarted
from sessions.events.messages import Frozen, MessageError, MessageInfo, Tokens, UserMessage
from sessions.events.parts import AnyPart

SCHEMA_VERSION = 1


class SessionCreated(Frozen):
    """The first event of every log."""

    type: Literal["session.created"] = "session.created"
    project_id: str
    owner_id: int | None = None
    parent_id: str | None = None
    title: str
    slug: str
    agent: str = ""
    model: JsonObject = {}
    permission: list[JsonObject] = []
    metadata: JsonObject = {}


class SessionUpdated(Frozen):
    """Only the fields that are set change.

    Units: `archived` is milliseconds since the epoch, 0 to undo.
    """

    type: Literal["session.updated"] = "session.updated"
    title: str | None = None
    agent: str | None = None
    model: JsonObject | None = None
    permission: list[JsonObject] | None = None
    metadata: JsonObject | None = None
    summary: JsonObject | None = None
    archived: int | None = None


class SessionUsed(Frozen):
    """What one step used; the session's totals rise by it."""

    type: Literal["session.used"] = "session.used"
    cost: Decimal
    tokens: Tokens


class SessionStatus(Frozen):
    """`detail` is one sentence for people: what it waits for, who stopped it, what failed."""

    type: Literal["session.status"] = "session.status"
    state: Literal["idle", "busy", "waiting"]
    outcome: Literal["", "done", "stopped", "failed", "interrupted"] = ""
    detail: str = ""
    by_id: int | None = None


class SessionFailed(Frozen):
    """A fault that belongs to no message."""

    type: Literal["session.error"] = "session.error"
    error: MessageError


class InputAdmitted(Frozen):
    """A prompt entered the inbox, whole: `info` and `parts` are what it becomes when promoted."""

    type: Literal["input.admitted"] = "input.admitted"
    author_id: int | None = None
    delivery: Literal["steer", "queue"]
    info: UserMessage
    parts: list[AnyPart]


class InputPromoted(Frozen):
    """The input leaves the inbox; its message and parts follow as their own events."""

    type: Literal["input.promoted"] = "input.promoted"
    id: str


class InputCancelled(Frozen):
    """Somebody took the input back before it was promoted."""

    type: Literal["input.cancelled"] = "input.cancelled"
    id: str
    by_id: int | None = None


class MessageUpdated(Frozen):
    """The whole message as it is now; the first one with its id makes it."""

    type: Literal["message.updated"] = "message.updated"
    info: MessageInfo
    author_id: int | None = None


class PartUpdated(Frozen):
    """The whole part as it is now; the first one with its id makes it."""

    type: Literal["part.updated"] = "part.updated"
    part: AnyPart


class PermissionAsked(Frozen):
    """A tool call waits for a person; the row and the card are made of this."""

    type: Literal["permission.asked"] = "permission.asked"
    id: str
    message_id: str
    call_id: str
    agent: str
    permission: str
    patterns: list[str]
    always: list[str]
    metadata: JsonObject


class PermissionReplied(Frozen):
    """`reply` is cancelled when the turn was stopped before anybody answered."""

    type: Literal["permission.replied"] = "permission.replied"
    id: str
    reply: Literal["once", "always", "reject", "cancelled"]
    feedback: str = ""
    by_id: int | None = None


SessionEvent = Annotated[
    SessionCreated
    | SessionUpdated
    | SessionUsed
    | SessionStatus
    | SessionFailed
    | InputAdmitted
    | InputPromoted
    | InputCancelled
    | MessageUpdated
    | PartUpdated
    | PermissionAsked
    | PermissionReplied
    | EpochStarted
    | ContextUpdated
    | EpochEnded,
    Field(discriminator="type"),
]

_ADAPTER: TypeAdapter[SessionEvent] = TypeAdapter(
    cast(Any, SessionEvent)  # mypy takes no union here when pydantic comes from its cache
)


def parse_event(type: str, data: JsonObject) -> SessionEvent:
    """Read a stored event back. Raises: pydantic.ValidationError when its shape is not known."""
    return _ADAPTER.validate_python({**data, "type": type})
