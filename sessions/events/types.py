"""Every durable event of a session. A stored one is read back by its `type`.

Changing a shape needs a new `schema_version` and a golden log in tests/sessions/events/golden/.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from pydantic import Field, TypeAdapter

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Told
from sessions.events.compaction import SessionCompacted
from sessions.events.context import ContextUpdated, EpochEnded, EpochStarted
from sessions.events.files import FileRefused
from sessions.events.inbox import (
    InputAdmitted,
    InputCancelled,
    InputChanged,
    InputPromoted,
    InputsReordered,
)
from sessions.events.messages import Frozen, MessageError, MessageInfo, Tokens
from sessions.events.parts import AnyPart
from sessions.events.questions import QuestionAsked, QuestionReplied
from sessions.events.reasons import AnyReason, read_cause
from sessions.events.removal import FileReverted, MessageRemoved, SessionReverted
from sessions.events.todos import TodosUpdated
from teams.models import Basis

SCHEMA_VERSION = 2


class SessionCreated(Frozen):
    """The first event of every log. `folder` is set where it has a checkout of its own.

    `path` is the folder that it works in, from the root of its files, when that is another one.
    `origin` is set for forks: the session that they and forks of theirs began as.

    Units: `cost_limit` is USD.
    """

    type: Literal["session.created"] = "session.created"
    project_id: str
    folder: str | None = None
    path: str | None = None
    owner_id: int | None = None
    parent_id: str | None = None
    root_id: str | None = None
    origin: str | None = None
    title: str
    slug: str
    agent: str = ""
    model: JsonObject = {}
    permission: list[JsonObject] = []
    metadata: JsonObject = {}
    private: bool | None = None
    read_only: bool | None = None
    cost_limit: Decimal | None = None


class SessionUpdated(Frozen):
    """Only the fields that are set change. An empty `folder` is the project's.

    `share` names a link and never has what opens it.

    Units: `archived` is milliseconds since the epoch, 0 to undo.
    """

    type: Literal["session.updated"] = "session.updated"
    folder: str | None = None
    title: str | None = None
    agent: str | None = None
    model: JsonObject | None = None
    permission: list[JsonObject] | None = None
    metadata: JsonObject | None = None
    summary: JsonObject | None = None
    share: JsonObject | None = None
    private: bool | None = None
    archived: int | None = None


class SessionUsed(Frozen):
    """What one step used; the session's totals rise by it.

    Units: tokens. `context` is what the conversation takes up after an answer, of `context_limit`,
    0 while unknown; both are absent where the request was not the conversation. Older logs do not
    name the model and who prompted: `projectors.usage` finds them. `api_model` is what its provider
    calls the model, where that is another name. `basis` says where the cost comes from; absent it
    is counted.
    """

    type: Literal["session.used"] = "session.used"
    # Of an archive from elsewhere, too: below 0 it would be a credit for every budget.
    cost: Decimal = Field(ge=0, lt=100_000_000)
    tokens: Tokens
    context: int | None = None
    context_limit: int | None = None
    provider_id: str | None = None
    model_id: str | None = None
    api_model: str | None = None
    prompt_id: str | None = None
    author_id: int | None = None
    basis: Basis | None = None


class SessionStatus(Frozen):
    """`reason` with its `values` is who stopped it, what failed, why it tries again. `detail` takes
    its place where a provider said it, and in logs of version 1.

    While `waits_for` is set, the session is suspended: it holds no lease, thread or connection.
    `state` is waiting when a person has to act (person, budget), and busy when it goes on by itself
    (children, retry, funds, room). `until` is when that happens, or when a person's time runs out.
    Units: `until` is milliseconds since the epoch; `attempt` counts failed tries, from 1.
    """

    type: Literal["session.status"] = "session.status"
    state: Literal["idle", "busy", "waiting"]
    waits_for: Literal["", "person", "children", "retry", "budget", "funds", "room"] = ""
    until: int | None = None
    attempt: int | None = None
    outcome: Literal["", "done", "stopped", "failed", "interrupted"] = ""
    detail: str = ""
    reason: AnyReason | None = None
    values: JsonObject | None = None
    by_id: int | None = None

    def saying(self, told: Told) -> SessionStatus:
        """Returns: the same with `told`."""
        said = {"detail": told} if isinstance(told, str) else told.to_json()
        return type(self).model_validate({**self.to_json(), **said})

    @property
    def told(self) -> Told:
        """Returns: the cause, or `detail`."""
        return read_cause({"reason": self.reason, "values": self.values or {}}) or self.detail


class SessionFailed(Frozen):
    """A fault that belongs to no message."""

    type: Literal["session.error"] = "session.error"
    error: MessageError


class MessageUpdated(Frozen):
    """The whole message as it is now; the first one with its id makes it."""

    type: Literal["message.updated"] = "message.updated"
    info: MessageInfo
    author_id: int | None = None


class PartUpdated(Frozen):
    """The whole part as it is now; the first one with its id makes it."""

    type: Literal["part.updated"] = "part.updated"
    part: AnyPart


class PartRemoved(Frozen):
    """The part is gone from its message: a failed try had written it, or somebody deleted it."""

    type: Literal["part.removed"] = "part.removed"
    message_id: str
    part_id: str


class PermissionAsked(Frozen):
    """A tool call waits for a person; the row and the card are made of this.

    Units: `until` is milliseconds since the epoch, absent where nobody has set a deadline.
    `source` says in words whose rule asks, absent where none does. `second_person`: by somebody
    who has not prompted the session.
    """

    type: Literal["permission.asked"] = "permission.asked"
    id: str
    message_id: str
    call_id: str
    agent: str
    permission: str
    patterns: list[str]
    always: list[str]
    metadata: JsonObject
    until: int | None = None
    source: str | None = None
    second_person: bool | None = None


class PermissionReplied(Frozen):
    """Without a person's answer `reply` is cancelled (the turn was stopped) or expired."""

    type: Literal["permission.replied"] = "permission.replied"
    id: str
    reply: Literal["once", "always", "reject", "cancelled", "expired"]
    feedback: str = ""
    by_id: int | None = None


SessionEvent = Annotated[
    SessionCreated
    | SessionUpdated
    | SessionUsed
    | SessionStatus
    | SessionFailed
    | SessionReverted
    | FileReverted
    | FileRefused
    | SessionCompacted
    | InputAdmitted
    | InputPromoted
    | InputChanged
    | InputsReordered
    | InputCancelled
    | MessageUpdated
    | PartUpdated
    | MessageRemoved
    | PartRemoved
    | PermissionAsked
    | PermissionReplied
    | QuestionAsked
    | QuestionReplied
    | TodosUpdated
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
