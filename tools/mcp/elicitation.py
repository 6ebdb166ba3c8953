"""What a server wants to know of a person, as questions, and their answers as it expects them.

Source: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text
from tools.context import Question, QuestionOption

MAX_FIELDS = 16
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
    if not all(_is_askable(one) for _, one in fields):
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
        given = [text for one in answer if (text := one.strip()[:_ANSWER_CHARS])]
        if not given:
            if "default" in schema:
                content[name] = schema["default"]
            elif name in form.required:
                return {"action": "decline"}, ""
            continue
        value = _value(schema, given)
        problem = _KINDS[str(schema["type"])] if value is None else _problem(schema, value)
        if problem:
            return {"action": "decline"}, f"{_title(name, schema)}: {problem}"
        content[name] = value
    return {"action": "accept", "content": content}, ""


# What is said of an answer that is none of this type.
_KINDS: dict[str, str] = {
    "string": "choose one of the options.",
    "number": "this must be a number.",
    "integer": "this must be a whole number.",
    "boolean": "this must be yes or no.",
    "array": "choose among the options.",
}
_FORMATS: dict[str, tuple[re.Pattern[str], str]] = {
    "email": (re.compile(r"[^@\s]+@[^@\s]+"), "this must be an e-mail address."),
    "uri": (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"), "this must be an address."),
    "date": (re.compile(r"\d{4}-\d{2}-\d{2}"), "this must be a date, such as 2026-01-31."),
    "date-time": (
        re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}\S*"),
        "this must be a date and time, such as 2026-01-31T12:00:00Z.",
    ),
}


def _is_askable(schema: JsonObject) -> bool:
    """Nothing but choices can be a list."""
    kind = schema.get("type")
    return isinstance(kind, str) and kind in _KINDS and (kind != "array" or bool(_choices(schema)))


def _problem(schema: JsonObject, value: JsonValue) -> str:
    """Returns: what a value of the right type lacks, as a sentence; nothing for a good one."""
    if isinstance(value, bool):
        return ""
    verb, of = "this must be", ""
    if isinstance(value, int | float):
        least, most, size = schema.get("minimum"), schema.get("maximum"), value
    elif isinstance(value, list):
        least, most = schema.get("minItems"), schema.get("maxItems")
        size, verb = len(value), "choose"
    else:
        text = str(value)
        shape = _FORMATS.get(str(schema.get("format")))
        if shape is not None and not shape[0].fullmatch(text):
            return shape[1]
        least, most = schema.get("minLength"), schema.get("maxLength")
        size, of = len(text), " characters"
    if isinstance(least, int | float) and size < least:
        return f"{verb} at least {_number(least)}{of}."
    if isinstance(most, int | float) and size > most:
        return f"{verb} at most {_number(most)}{of}."
    return ""


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)[:_TITLE_CHARS]


def _question(asks: str, name: str, schema: JsonObject) -> Question:
    title = _title(name, schema)
    described = _shown(schema.get("description"), _DESCRIPTION_CHARS)
    text = f"{asks}\n\n{title}{f': {described}' if described else ''}"
    if "default" in schema:
        text += f"\n\n(Without an answer: {_named(schema, schema['default'])})"
    labels = [label for label, _ in _choices(schema)]
    if schema.get("type") == "boolean":
        labels = [_YES, _NO]
    options = labels if len(labels) <= _MAX_OPTIONS else []
    if labels and not options:
        text += f"\n\n(Among: {', '.join(labels)})"[:_MESSAGE_CHARS]
    chosen = tuple(QuestionOption(label, "") for label in options)
    return Question(text, title, chosen, multiple=schema.get("type") == "array")


def _named(schema: JsonObject, value: JsonValue) -> str:
    """Returns: a default as people know it."""
    if isinstance(value, list):
        return ", ".join(_named(schema, one) for one in value)[:_DESCRIPTION_CHARS]
    if isinstance(value, bool):
        return _YES if value else _NO
    return next((label for label, one in _choices(schema) if one == value), _shown(f"{value}", 100))


def _value(schema: JsonObject, given: list[str]) -> JsonValue:
    """Returns: None for an answer that is none."""
    kind, text = schema.get("type"), given[0]
    if kind == "boolean":
        return {"yes": True, "no": False}.get(text.lower())
    if kind == "array":
        # In one's own words they stand on one line.
        words = given if len(given) > 1 else _words(schema, text)
        values = [_chosen(schema, one) for one in words]
        return None if None in values else [*dict.fromkeys(values)]
    if _choices(schema):
        return _chosen(schema, text)
    if kind == "string":
        return text
    try:
        value = int(text) if kind == "integer" else float(text)
    except ValueError:
        return None
    # What is no number cannot be sent as one.
    return value if isinstance(value, int) or math.isfinite(value) else None


def _words(schema: JsonObject, text: str) -> list[str]:
    if _chosen(schema, text) is not None:
        return [text]
    return [word for one in text.split(",") if (word := one.strip())]


def _chosen(schema: JsonObject, text: str) -> str | None:
    return next((value for label, value in _choices(schema) if text in (label, value)), None)


def _choices(schema: JsonObject) -> list[tuple[str, str]]:
    """Returns: the texts of a choice and the values that they stand for."""
    items = schema.get("items")
    if schema.get("type") == "array":
        schema = items if isinstance(items, dict) else {}
    titled = schema.get("oneOf", schema.get("anyOf"))
    if isinstance(titled, list):
        return [
            (_shown(one.get("title"), _TITLE_CHARS) or _shown(value, _TITLE_CHARS), value)
            for one in titled
            if isinstance(one, dict) and isinstance(value := one.get("const"), str)
        ]
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
