"""What the routes answer, for `/doc`. Answers are stored shapes and are not checked against it."""

from __future__ import annotations

from typing import Any, Literal

from ninja import NinjaAPI
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, SkipJsonSchema
from pydantic_core.core_schema import WithDefaultSchema

from opencode_web.lib.json import JsonValue
from sessions.api.schemas import PermissionRule, SessionModel
from sessions.events.messages import MessageInfo, Tokens
from sessions.events.parts import AnyPart
from sessions.events.questions import QuestionInfo
from sessions.events.removal import Revert

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


class Message(_Shape):
    info: MessageInfo
    parts: list[AnyPart]


class Exported(_Shape):
    info: Session
    messages: list[Message]


class Status(_Shape):
    type: Literal["busy"]


class AdmittedInput(_Shape):
    admittedSeq: int
    id: str
    sessionID: str
    prompt: dict[str, JsonValue]
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


class Project(_Shape):
    id: str
    worktree: str
    name: str
    time: Times


class Path(_Shape):
    home: str
    worktree: str
    directory: str


class Agent(_Shape):
    name: str
    description: str
    mode: Literal["subagent", "primary", "all"]
    permission: list[PermissionRule]


class Provider(_Shape):
    id: str
    name: str
    models: dict[str, dict[str, JsonValue]]


class Providers(_Shape):
    all: list[Provider]
    default: dict[str, str]
    connected: list[str]


class UsableProviders(_Shape):
    providers: list[Provider]
    default: dict[str, str]


class Health(_Shape):
    healthy: Literal[True]
    version: str


class Fault(_Shape):
    """The one error shape."""

    name: str
    data: dict[str, JsonValue]


_Settings = dict[str, JsonValue]
_Rows = list[dict[str, JsonValue]]
# None: an event stream, or nothing at all.
ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/global/health"): Health,
    ("get", "/agent"): list[Agent],
    ("get", "/provider"): Providers,
    ("get", "/config/providers"): UsableProviders,
    ("get", "/command"): _Rows,
    ("get", "/lsp"): _Rows,
    ("get", "/formatter"): _Rows,
    ("get", "/mcp"): _Settings,
    ("get", "/config"): _Settings,
    ("patch", "/config"): _Settings,
    ("get", "/path"): Path,
    ("get", "/project"): list[Project],
    ("get", "/project/current"): Project,
    ("get", "/vcs"): dict[str, str],
    ("get", "/session"): list[Session],
    ("post", "/session"): Session,
    ("get", "/session/status"): dict[str, Status],
    ("get", "/session/{session_id}"): Session,
    ("patch", "/session/{session_id}"): Session,
    ("delete", "/session/{session_id}"): bool,
    ("get", "/session/{session_id}/children"): list[Session],
    ("get", "/session/{session_id}/todo"): _Rows,
    ("get", "/session/{session_id}/diff"): _Rows,
    ("get", "/session/{session_id}/message"): list[Message],
    ("post", "/session/{session_id}/message"): Message,
    ("get", "/session/{session_id}/message/{message_id}"): Message,
    ("delete", "/session/{session_id}/message/{message_id}"): bool,
    ("delete", "/session/{session_id}/message/{message_id}/part/{part_id}"): bool,
    ("patch", "/session/{session_id}/message/{message_id}/part/{part_id}"): AnyPart,
    ("post", "/session/import"): Session,
    ("get", "/session/{session_id}/export"): Exported,
    ("get", "/session/{session_id}/log"): _Rows,
    ("post", "/session/{session_id}/fork"): Session,
    ("post", "/session/{session_id}/revert"): Session,
    ("post", "/session/{session_id}/unrevert"): Session,
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
    ("get", "/event"): None,
    ("get", "/global/event"): None,
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


class _Generator(GenerateJsonSchema):
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
            if "security" in operation:
                operation["security"] = [{name: []} for name in _SIGN_IN]
            responses = operation["responses"]
            if (method, path) in answers:
                responses[200] |= _content(shapes[(method, path), "serialization"])
            responses["default"] = {"description": "A fault", **fault}
    return document


def _content(schema: object) -> dict[str, Any]:  # part of the document
    return {"content": {"application/json": {"schema": schema}}}
