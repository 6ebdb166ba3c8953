"""What a server wants to know of a person, as questions, and their answers as it expects them.

Source: https://modelcontextprotocol.io/specification/2025-06-18/client/elicitation
"""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text
from tools.context import Question, QuestionOption

MAX_FIELDS = 8
_MAX_OPTIONS = 12
_MESSAGE_CHARS, _TITLE_CHARS, _DESCRIPTION_CHARS, _ANSWER_CHARS = 1_000, 100, 500, 4_000
_YES, _NO = "Yes", "No"
_ACCEPT, _DECLINE = "Accept", "Decline"


@dataclass(frozen=True)
class Form:
    """The questions of one request. `fields` are theirs in order; without any it is confirmed."""

    questions: tuple[Question, ...]
    fields: tuple[tuple[str, JsonObject], ...]
    required: frozenset[str]


def read_form(server: str, params: JsonObject) -> Form | None:
    """Read `{message, requestedSchema}` of a server. Returns: None for what cannot be asked."""
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    needed = schema.get("required") if isinstance(schema, dict) else None
    found = properties if isinstance(properties, dict) else {}
    fields = [(name, one) for name, one in found.items() if isinstance(one, dict)]
    if len(fields) != len(found) or len(fields) > MAX_FIELDS:
        return None
    if any(str(one.get("type")) not in _KINDS for _, one in fields):
        return None
    asks = f"The MCP server {server} asks: {_shown(params.get('message'), _MESSAGE_CHARS)}"
    if not fields:
        options = (QuestionOption(_ACCEPT, ""), QuestionOption(_DECLINE, ""))
        return Form((Question(asks, server, options),), (), frozenset())
    return Form(
        tuple(_question(asks, name, one) for name, one in fields),
        tuple(fields),
        frozenset(str(one) for one in (needed if isinstance(needed, list) else ())),
    )


def to_result(form: Form, answers: list[list[str]]) -> tuple[JsonObject, str]:
    """Returns: the result for the server, and what is wrong with an answer, as a sentence."""
    if not form.fields:
        accepts = answers[:1] == [[_ACCEPT]]
        return ({"action": "accept", "content": {}} if accepts else {"action": "decline"}), ""
    content: JsonObject = {}
    for (name, schema), answer in zip(form.fields, answers, strict=True):
        text = answer[0].strip()[:_ANSWER_CHARS] if answer else ""
        if not text:
            if name in form.required:
                return {"action": "decline"}, ""
            continue
        value = _value(schema, text)
        if value is None:
            return {"action": "decline"}, f"{_title(name, schema)}: {_KINDS[str(schema['type'])]}"
        content[name] = value
    return {"action": "accept", "content": content}, ""


# What is said of an answer that is none of this type.
_KINDS: dict[str, str] = {
    "string": "choose one of the options.",
    "number": "this must be a number.",
    "integer": "this must be a whole number.",
    "boolean": "this must be yes or no.",
}


def _question(asks: str, name: str, schema: JsonObject) -> Question:
    title = _title(name, schema)
    described = _shown(schema.get("description"), _DESCRIPTION_CHARS)
    text = f"{asks}\n\n{title}{f': {described}' if described else ''}"
    labels = [label for label, _ in _choices(schema)]
    if schema.get("type") == "boolean":
        labels = [_YES, _NO]
    options = labels if len(labels) <= _MAX_OPTIONS else []
    return Question(text, title, tuple(QuestionOption(label, "") for label in options))


def _value(schema: JsonObject, text: str) -> JsonValue:
    """Returns: None for an answer that is none."""
    kind = schema.get("type")
    if kind == "boolean":
        return {"yes": True, "no": False}.get(text.lower())
    if choices := _choices(schema):
        return next((value for label, value in choices if text in (label, value)), None)
    if kind == "string":
        return text
    try:
        return int(text) if kind == "integer" else float(text)
    except ValueError:
        return None


def _choices(schema: JsonObject) -> list[tuple[str, str]]:
    """Returns: the texts of a choice and the values that they stand for."""
    values, names = schema.get("enum"), schema.get("enumNames")
    found = [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
    labels = names if isinstance(names, list) and len(names) == len(found) else found
    return [
        (_shown(label, _TITLE_CHARS), value) for label, value in zip(labels, found, strict=True)
    ]


def _title(name: str, schema: JsonObject) -> str:
    return _shown(schema.get("title"), _TITLE_CHARS) or _shown(name, _TITLE_CHARS)


def _shown(text: JsonValue, most: int) -> str:
    return printable_text(text[: 2 * most])[:most].strip() if isinstance(text, str) else ""
