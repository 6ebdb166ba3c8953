"""What the routes of terminals and of the second version answer, for `/doc`."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue
from sessions.api.v2.catalog_answers import (
    AgentV2,
    Attempt,
    AttemptStatus,
    CommandV2,
    Entry,
    HealthV2,
    Integration,
    ModelV2,
    ProviderV2,
    ReferenceV2,
    SkillV2,
)
from sessions.api.v2.session_answers import (
    History,
    MessageV2,
    PermissionV2,
    QuestionV2,
    RevertV2,
    SavedPermission,
    SessionV2,
)


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class Shell(_Shape):
    path: str
    name: str
    acceptable: bool


class Pty(_Shape):
    id: str
    title: str
    command: str
    args: list[str]
    cwd: str
    status: Literal["running", "exited"]
    pid: int
    exitCode: int | SkipJsonSchema[None] = None


class Ticket(_Shape):
    ticket: str
    expires_in: int
    """Units: seconds."""


class PlaceProject(_Shape):
    id: str
    directory: str


class Place(_Shape):
    directory: str
    project: PlaceProject


Data = TypeVar("Data")


class Wrapped(_Shape, Generic[Data]):
    data: Data


class Cursors(_Shape):
    previous: str | SkipJsonSchema[None] = None
    next: str | SkipJsonSchema[None] = None


class Paged(_Shape, Generic[Data]):
    data: Data
    cursor: Cursors


class Placed(_Shape, Generic[Data]):
    """An answer of the second version of the API."""

    location: Place
    data: Data


_Object = dict[str, JsonValue]
# None: an event stream, a file, or nothing at all.
ANSWERS_V2: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/api/pty"): Placed[list[Pty]],
    ("post", "/api/pty"): Placed[Pty],
    ("get", "/api/pty/{pty_id}"): Placed[Pty],
    ("put", "/api/pty/{pty_id}"): Placed[Pty],
    ("delete", "/api/pty/{pty_id}"): None,
    ("post", "/api/pty/{pty_id}/connect-token"): Placed[Ticket],
    ("get", "/api/pty/{pty_id}/connect"): bool,
    ("get", "/api/session"): Paged[list[SessionV2]],
    ("post", "/api/session"): Wrapped[SessionV2],
    ("get", "/api/session/active"): Wrapped[_Object],
    ("get", "/api/session/{session_id}"): Wrapped[SessionV2],
    ("post", "/api/session/{session_id}/agent"): None,
    ("post", "/api/session/{session_id}/model"): None,
    ("post", "/api/session/{session_id}/compact"): None,
    ("post", "/api/session/{session_id}/interrupt"): None,
    ("post", "/api/session/{session_id}/wait"): None,
    ("post", "/api/session/{session_id}/revert/stage"): Wrapped[RevertV2],
    ("post", "/api/session/{session_id}/revert/clear"): None,
    ("post", "/api/session/{session_id}/revert/commit"): None,
    ("get", "/api/session/{session_id}/message"): Paged[list[MessageV2]],
    ("get", "/api/session/{session_id}/message/{message_id}"): Wrapped[MessageV2],
    ("get", "/api/session/{session_id}/context"): Wrapped[list[MessageV2]],
    ("get", "/api/session/{session_id}/history"): History,
    ("get", "/api/session/{session_id}/event"): None,
    ("get", "/api/permission/request"): Placed[list[PermissionV2]],
    ("get", "/api/permission/saved"): Wrapped[list[SavedPermission]],
    ("delete", "/api/permission/saved/{rule}"): None,
    ("get", "/api/session/{session_id}/permission"): Wrapped[list[PermissionV2]],
    ("get", "/api/session/{session_id}/permission/{request_id}"): Wrapped[PermissionV2],
    ("post", "/api/session/{session_id}/permission/{request_id}/reply"): None,
    ("get", "/api/question/request"): Placed[list[QuestionV2]],
    ("get", "/api/session/{session_id}/question"): Wrapped[list[QuestionV2]],
    ("post", "/api/session/{session_id}/question/{question_id}/reply"): None,
    ("post", "/api/session/{session_id}/question/{question_id}/reject"): None,
    ("get", "/api/event"): None,
    ("get", "/api/health"): HealthV2,
    ("get", "/api/location"): Place,
    ("get", "/api/agent"): Placed[list[AgentV2]],
    ("get", "/api/provider"): Placed[list[ProviderV2]],
    ("get", "/api/provider/{provider_id}"): Placed[ProviderV2],
    ("get", "/api/model"): Placed[list[ModelV2]],
    ("get", "/api/command"): Placed[list[CommandV2]],
    ("get", "/api/skill"): Placed[list[SkillV2]],
    ("get", "/api/reference"): Placed[list[ReferenceV2]],
    ("get", "/api/integration"): Placed[list[Integration]],
    ("get", "/api/integration/{integration_id}"): Placed[Integration],
    ("post", "/api/integration/{integration_id}/connect/key"): None,
    ("post", "/api/integration/{integration_id}/connect/oauth"): Placed[Attempt],
    ("get", "/api/integration/attempt/{attempt_id}"): Placed[AttemptStatus],
    ("delete", "/api/integration/attempt/{attempt_id}"): None,
    ("post", "/api/integration/attempt/{attempt_id}/complete"): None,
    ("delete", "/api/credential/{credential_id}"): None,
    ("patch", "/api/credential/{credential_id}"): None,
    ("get", "/api/fs/list"): Placed[list[Entry]],
    ("get", "/api/fs/find"): Placed[list[Entry]],
    ("get", "/api/fs/read/{path}"): None,
}
