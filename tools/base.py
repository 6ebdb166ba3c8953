from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from opencode_web.lib.json import JsonObject, JsonValue
from tools.context import ToolContext
from tools.errors import PermissionDenied, PermissionRejected, QuestionDismissed, ToolError
from tools.truncate import Keep

__all__ = [
    "Attachment",
    "Params",
    "PermissionDenied",
    "PermissionRejected",
    "QuestionDismissed",
    "Tool",
    "ToolError",
    "ToolResult",
    "load_description",
]
# A call that is wrong in more places is best written anew.
_MOST = 5
_GIVEN_CHARS = 60
_UNKNOWN_CHARS = 200


class Params(BaseModel):
    """Arguments of one call, by their wire names. What the model sends beside them is dropped."""

    model_config = ConfigDict(extra="ignore", frozen=True)


P = TypeVar("P", bound=Params)


@dataclass(frozen=True)
class Attachment:
    """A file the model sees beside the text. `url` is a data: URL."""

    mime: str
    url: str
    filename: str | None = None


@dataclass(frozen=True)
class ToolResult:
    """A settled call. `metadata` holds what the clients read, `keep` says what remains of an output
    that is too long.

    Source: the tool parts of OpenCode's HTTP API.
    """

    title: str
    output: str
    metadata: JsonObject = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    keep: Keep = Keep.HEAD


@dataclass(frozen=True)
class Tool(Generic[P]):
    """One thing the model can do. `permission` is the name whose full denial hides the tool."""

    name: str
    params: type[P]
    run: Callable[[P, ToolContext], Awaitable[ToolResult]]
    permission: str
    description: str

    def schema(self) -> JsonObject:
        """Build the JSON schema for the model: references inlined, no titles or null branches.

        Returns: a copy of the caller's own.
        """
        schema: JsonObject = json.loads(_schema_text(self.params))
        return schema

    def parse(self, arguments: JsonObject) -> P:
        """Read the arguments of a call.

        Raises: ToolError naming what is wrong, field by field.
        """
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
        except UnicodeEncodeError as exc:
            raise ToolError(
                f"The {self.name} tool was called with invalid arguments: a text is not valid "
                "Unicode (a lone surrogate)."
            ) from exc
        try:
            return self.params.model_validate(arguments)
        except ValidationError as exc:
            known = json.loads(_schema_text(self.params))["properties"]
            problems = _describe_problems(exc, given=arguments, known=known)
            raise ToolError(
                f"The {self.name} tool was called with invalid arguments: {problems}. "
                "Send the call again with arguments that fit the schema of the tool."
            ) from exc


@cache
def _schema_text(params: type[BaseModel]) -> str:
    """Kept, because every turn offers every tool and pydantic takes about 1 ms for each."""
    # Any: pydantic types its schema so.
    raw: dict[str, Any] = params.model_json_schema(by_alias=True)
    definitions = raw.pop("$defs", {})
    schema: JsonObject = _simplify(raw, definitions)
    schema.setdefault("properties", {})
    schema.pop("description", None)
    return json.dumps(schema)


def load_description(module_file: str) -> str:
    """Read the description that lies beside a tool's module: `x.py` has `x.md`."""
    return Path(module_file).with_suffix(".md").read_text(encoding="utf-8").strip()


def _simplify(node: Any, definitions: dict[str, Any]) -> Any:  # Any: a JSON schema
    if isinstance(node, list):
        return [_simplify(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = copy.deepcopy(definitions[str(node["$ref"]).rsplit("/", 1)[-1]])
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _simplify({**target, **rest}, definitions)
    branches = node.get("anyOf")
    if isinstance(branches, list):
        real = [branch for branch in branches if branch != {"type": "null"}]
        if len(real) == 1:
            # Optional is said by `required`; some providers refuse a union with null.
            rest = {key: value for key, value in node.items() if key not in {"anyOf", "default"}}
            return _simplify({**real[0], **rest}, definitions)
    return {
        key: _properties(value, definitions)
        if key == "properties"
        else _simplify(value, definitions)
        for key, value in node.items()
        if key != "title"
    }


def _properties(
    value: dict[str, Any], definitions: dict[str, Any]
) -> JsonValue:  # Any: a JSON schema
    # Names of properties are data: one may be called "title".
    return {name: _simplify(schema, definitions) for name, schema in value.items()}


def _describe_problems(error: ValidationError, *, given: JsonObject, known: Collection[str]) -> str:
    """Returns: each problem with its place and what was sent there; then what was not understood.

    `known` are the names that the tool takes.
    """
    found = error.errors(include_url=False, include_context=False)
    said = [_problem(one["loc"], one["msg"], one["type"], one["input"]) for one in found[:_MOST]]
    if len(found) > _MOST:
        said.append(f"and {len(found) - _MOST} more")
    unknown = ", ".join(sorted(given.keys() - set(known)))[:_UNKNOWN_CHARS]
    if unknown and any(one["type"] == "missing" for one in found):
        said.append(f"not known here: {unknown}")
    return "; ".join(said)


def _problem(place: tuple[int | str, ...], message: str, kind: str, value: object) -> str:
    where = ".".join(str(part) for part in place) or "arguments"
    if kind == "missing":
        return f"{where}: missing"
    shown = json.dumps(value, ensure_ascii=False, default=str)
    if len(shown) > _GIVEN_CHARS:
        shown = f"{shown[:_GIVEN_CHARS]}…"
    return f"{where}: {message}, got {shown}"
