"""The document of `/doc`. What a route answers is the type that its function returns, or
`Annotated[HttpResponse, <type>]` where that is made by hand. No answer is checked against it."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_origin, get_type_hints

from django.conf import settings
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import (
    NullableSchema,
    TypedDictField,
    TypedDictSchema,
    WithDefaultSchema,
)

from opencode_web.lib.json import JsonValue
from sessions.api.approvals import ChangeWire
from sessions.api.operations import name_operation
from sessions.api.sessions import FileDiff
from sessions.events.messages import AssistantMessage, UserMessage


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


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


MessageInfo = Annotated[UserInfo | AssistantMessage, Field(discriminator="role")]


class Fault(_Shape):
    """The one error shape. `_tag` and `message` are those of the SDK's types."""

    name: str
    data: dict[str, JsonValue]
    tag: str = Field(alias="_tag")
    message: str


_SIGN_IN: dict[str, JsonValue] = {
    "token": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic", "description": "E-mail and token"},
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": settings.SESSION_COOKIE_NAME,
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

    def typed_dict_field_schema(self, schema: TypedDictField) -> JsonSchemaValue:
        inner = schema["schema"]
        if schema.get("required") and inner["type"] == "nullable":
            return super().nullable_schema(cast(NullableSchema, inner))
        return super().typed_dict_field_schema(schema)

    def typed_dict_schema(self, schema: TypedDictSchema) -> JsonSchemaValue:
        # Clients must not mind what a later version adds.
        return {**super().typed_dict_schema(schema), "additionalProperties": True}

    def normalize_name(self, name: str) -> str:
        # In the code they have another name than the row or value that they show.
        return super().normalize_name(name.replace("Wire", ""))


class _Document(OpenAPISchema):
    def __init__(self, api: NinjaAPI) -> None:
        # Responses of operations, and the types of what they answer.
        self.answers: list[tuple[dict[str, Any], Any]] = []
        super().__init__(api, path_prefix="")

    def responses(self, operation: Operation) -> dict[int, dict[str, Any]]:
        found: dict[int, dict[str, Any]] = super().responses(operation)
        answer = _answer_of(operation.view_func)
        if getattr(operation.view_func, "may_wait", False):
            waits = {"description": "A second person must approve it first"}
            self.answers.append((found.setdefault(202, waits), ChangeWire))
        if answer is not None and not any("content" in one for one in found.values()):
            self.answers.append((found.setdefault(200, {"description": "OK"}), answer))
        return found


def _answer_of(view: Callable[..., Any]) -> Any:  # a type or a generic alias
    """Returns: None for an event stream, a file, or nothing at all."""
    answer = get_type_hints(view, include_extras=True)["return"]
    if get_origin(answer) is Annotated and issubclass(answer.__origin__, HttpResponseBase):
        return answer.__metadata__[0]
    is_made = isinstance(answer, type) and issubclass(answer, HttpResponseBase)
    return None if is_made or answer is NoneType else answer


def describe(api: NinjaAPI) -> dict[str, Any]:  # an OpenAPI document, as ninja makes it
    """Returns: the OpenAPI document of the routes, with what they answer."""
    document = _Document(api)
    wanted = [*document.answers, ({"description": "A fault"}, Fault)]
    shapes, extra = TypeAdapter.json_schemas(
        [(place, "serialization", TypeAdapter(shape)) for place, (_, shape) in enumerate(wanted)],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    for name, schema in extra["$defs"].items():
        # Of a generic type its own title has only the name of the origin.
        titled = {"title": name} if "title" in schema else {}
        document["components"]["schemas"][name] = {**schema, **titled}
    document["components"]["securitySchemes"] = _SIGN_IN
    document["servers"] = [{"url": settings.BASE_PATH}] if settings.BASE_PATH else []
    for place, (response, _) in enumerate(wanted):
        content = {"schema": shapes[place, "serialization"]}
        response["content"] = {"application/json": content}
    fault = wanted[-1][0]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name_operation(path, method, operation)
            if "security" in operation:
                operation["security"] = [{name: []} for name in _SIGN_IN]
            if method != "get":
                operation.setdefault("parameters", []).append(_KEY)
            operation["responses"]["default"] = fault
    return document
