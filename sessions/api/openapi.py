"""What the routes answer, for `/doc`. Answers are stored shapes and are not checked against it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import NinjaAPI
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, SkipJsonSchema
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from opencode_web.lib.json import JsonValue
from sessions.api import automation_shapes, catalog_shapes, client_shapes, file_shapes
from sessions.api.operations import name_operation
from sessions.api.schemas import PermissionRule, SessionModel
from sessions.api.v2.answers import ANSWERS_V2, Pty, Shell, Ticket
from sessions.events.messages import AssistantMessage, Tokens, UserMessage
from sessions.events.parts import AnyPart
from sessions.events.questions import QuestionInfo
from sessions.events.removal import Revert
from sessions.events.todos import TodoItem

# Absent when there is none, never null.
Text = str | SkipJsonSchema[None]
Time = int | SkipJsonSchema[None]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class Times(_Shape):
    """Units: milliseconds since the epoch."""

    created: int
    updated: int
    archived: Time = None


class Session(_Shape):
    id: str
    slug: str
    projectID: str
    directory: str
    title: str
    version: str
    cost: float
    """Units: USD."""
    tokens: Tokens
    time: Times
    parentID: Text = None
    agent: Text = None
    model: SessionModel | SkipJsonSchema[None] = None
    permission: list[PermissionRule] = []
    revert: Revert | SkipJsonSchema[None] = None


class WorktreeBase(_Shape):
    branch: str
    commit: str


class WorktreeResult(_Shape):
    ok: bool
    message: str


class Worktree(_Shape):
    name: str
    branch: str
    directory: str
    sessionID: Text = None
    base: WorktreeBase
    state: str
    detail: str
    job: str
    """What is being done with it; empty when nothing is."""
    result: WorktreeResult
    ahead: int
    behind: int
    dirty: int


class FileDiff(_Shape):
    file: str
    patch: str
    additions: int
    deletions: int
    status: Literal["added", "deleted", "modified"]


class PromptSummary(_Shape):
    diffs: list[FileDiff]


class TextFormat(_Shape):
    type: Literal["text"]


class SchemaFormat(_Shape):
    type: Literal["json_schema"]
    schema_: dict[str, JsonValue] = Field(alias="schema")


class UserInfo(UserMessage):
    """What somebody wrote."""

    summary: PromptSummary | None = None  # type: ignore[assignment]  # as it is on the wire
    format: Annotated[TextFormat | SchemaFormat, Field(discriminator="type")] | None = None  # type: ignore[assignment]  # likewise


class Message(_Shape):
    info: Annotated[UserInfo | AssistantMessage, Field(discriminator="role")]
    parts: list[AnyPart]


class AnswerMessage(_Shape):
    """The answer to a prompt; without a reply that is wanted, the prompt itself."""

    info: AssistantMessage
    parts: list[AnyPart]


class Exported(_Shape):
    info: Session
    messages: list[Message]


class Status(_Shape):
    type: Literal["busy"]


class PromptText(_Shape):
    text: str


class AdmittedInput(_Shape):
    admittedSeq: int
    id: str
    sessionID: str
    prompt: PromptText
    delivery: Literal["steer", "queue"]
    timeCreated: int
    promotedSeq: Time = None


class Admitted(_Shape):
    data: AdmittedInput


class WaitingInput(AdmittedInput):
    """`revision` goes into a change; the order of a list is the order of sending."""

    status: Literal["admitted", "promoted", "cancelled"]
    revision: int


class PermissionRequest(_Shape):
    id: str
    sessionID: str
    permission: str
    patterns: list[str]
    always: list[str]
    metadata: dict[str, JsonValue]


class QuestionRequest(_Shape):
    id: str
    sessionID: str
    questions: list[QuestionInfo]


class ProjectOfSession(_Shape):
    id: str
    name: str
    worktree: str


class GlobalSession(Session):
    project: ProjectOfSession


class Fault(_Shape):
    """The one error shape. `_tag` and `message` are those of the SDK's types."""

    name: str
    data: dict[str, JsonValue]
    tag: str = Field(alias="_tag")
    message: str


_Settings = dict[str, JsonValue]
_Rows = list[dict[str, JsonValue]]
# None: an event stream, or nothing at all.
ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/config"): _Settings,
    ("patch", "/config"): _Settings,
    ("get", "/vcs"): dict[str, str],
    ("get", "/session"): list[Session],
    ("post", "/session"): Session,
    ("get", "/session/status"): dict[str, Status],
    ("get", "/session/{session_id}"): Session,
    ("patch", "/session/{session_id}"): Session,
    ("delete", "/session/{session_id}"): bool,
    ("get", "/session/{session_id}/children"): list[Session],
    ("get", "/session/{session_id}/todo"): list[TodoItem],
    ("get", "/session/{session_id}/diff"): list[FileDiff],
    ("get", "/session/{session_id}/message"): list[Message],
    ("post", "/session/{session_id}/message"): AnswerMessage,
    ("get", "/session/{session_id}/message/{message_id}"): Message,
    ("delete", "/session/{session_id}/message/{message_id}"): bool,
    ("delete", "/session/{session_id}/message/{message_id}/part/{part_id}"): bool,
    ("patch", "/session/{session_id}/message/{message_id}/part/{part_id}"): AnyPart,
    ("post", "/session/import"): Session,
    ("get", "/session/{session_id}/export"): Exported,
    ("get", "/session/{session_id}/log"): _Rows,
    ("get", "/experimental/worktree"): list[str],
    ("get", "/session/{session_id}/worktree"): Worktree,
    ("post", "/session/{session_id}/worktree/look"): Worktree,
    ("post", "/session/{session_id}/worktree/commit"): Worktree,
    ("post", "/session/{session_id}/worktree/merge"): Worktree,
    ("post", "/session/{session_id}/worktree/push"): Worktree,
    ("post", "/session/{session_id}/worktree/drop"): Worktree,
    ("post", "/session/{session_id}/worktree/restore"): Worktree,
    ("post", "/session/{session_id}/fork"): Session,
    ("post", "/session/{session_id}/revert"): Session,
    ("post", "/session/{session_id}/unrevert"): Session,
    ("post", "/session/{session_id}/revert/file"): Session,
    ("post", "/session/{session_id}/unrevert/file"): Session,
    ("post", "/session/{session_id}/command"): AnswerMessage,
    ("post", "/session/{session_id}/prompt"): AnswerMessage,
    ("post", "/session/{session_id}/shell"): AnswerMessage,
    ("post", "/session/{session_id}/init"): bool,
    ("post", "/session/{session_id}/compact"): bool,
    ("post", "/session/{session_id}/share"): Session,
    ("delete", "/session/{session_id}/share"): Session,
    ("post", "/session/{session_id}/prompt_async"): None,
    ("post", "/session/{session_id}/summarize"): bool,
    ("post", "/session/{session_id}/abort"): bool,
    ("post", "/api/session/{session_id}/prompt"): Admitted,
    ("get", "/session/{session_id}/input"): list[WaitingInput],
    ("post", "/session/{session_id}/input/order"): list[WaitingInput],
    ("get", "/session/{session_id}/input/{input_id}"): WaitingInput,
    ("patch", "/session/{session_id}/input/{input_id}"): WaitingInput,
    ("delete", "/session/{session_id}/input/{input_id}"): bool,
    ("get", "/permission"): list[PermissionRequest],
    ("post", "/permission/{request_id}/reply"): bool,
    ("post", "/session/{session_id}/permissions/{request_id}"): bool,
    ("get", "/question"): list[QuestionRequest],
    ("post", "/question/{question_id}/reply"): bool,
    ("post", "/question/{question_id}/reject"): bool,
    ("get", "/pty/shells"): list[Shell],
    ("get", "/pty"): list[Pty],
    ("post", "/pty"): Pty,
    ("get", "/pty/{pty_id}"): Pty,
    ("put", "/pty/{pty_id}"): Pty,
    ("delete", "/pty/{pty_id}"): bool,
    ("post", "/pty/{pty_id}/connect-token"): Ticket,
    ("get", "/pty/{pty_id}/connect"): bool,
    ("get", "/event"): None,
    ("get", "/global/event"): None,
    ("get", "/experimental/session"): list[GlobalSession],
    **catalog_shapes.ANSWERS,
    **client_shapes.ANSWERS,
    **file_shapes.ANSWERS,
    **automation_shapes.ANSWERS,
    # These say it themselves.
    ("get", "/token"): None,
    ("post", "/token"): None,
    ("delete", "/token/{token_id}"): None,
    **ANSWERS_V2,
}


_SIGN_IN: dict[str, JsonValue] = {
    "token": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic", "description": "E-mail and token"},
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "A signed-in browser; to write, it sends X-CSRFToken too",
    },
}


_KEY: dict[str, JsonValue] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Makes the same request, sent again within 24 hours, answer as it did first",
}


class _Generator(GenerateJsonSchema):
    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        # What is not there is absent.
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", "") is None:
            del described["default"]
        return described


def describe(api: NinjaAPI) -> dict[str, Any]:  # an OpenAPI document, as ninja makes it
    """Returns: the OpenAPI document of the routes, with what they answer."""
    document = api.get_openapi_schema(path_prefix="")
    answers = {key: shape for key, shape in ANSWERS.items() if shape is not None}
    wanted = {**answers, ("any", "fault"): Fault}
    shapes, extra = TypeAdapter.json_schemas(
        [(key, "serialization", TypeAdapter(shape)) for key, shape in wanted.items()],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    document["components"]["schemas"].update(extra["$defs"])
    document["components"]["securitySchemes"] = _SIGN_IN
    fault = _content(shapes[("any", "fault"), "serialization"])
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name_operation(path, method, operation)
            if "security" in operation:
                operation["security"] = [{name: []} for name in _SIGN_IN]
            if method != "get":
                operation.setdefault("parameters", []).append(_KEY)
            responses = operation["responses"]
            if (method, path) in answers:
                responses[200] |= _content(shapes[(method, path), "serialization"])
            responses["default"] = {"description": "A fault", **fault}
    return document


def _content(schema: object) -> dict[str, Any]:  # part of the document
    return {"content": {"application/json": {"schema": schema}}}
