"""JSON that clients send, as every database and every other client can take it."""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonValue
from opencode_web.lib.text import clean_json

MAX_DEPTH = 50
# Brackets inside strings open nothing.
# Possessive: a plain repetition keeps a way back for every character.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def parse_json(body: bytes) -> JsonValue:
    """Parse a body; text that cannot be stored is replaced by U+FFFD.

    Raises: Invalid for what is no JSON (also NaN and Infinity), is nested too deeply, or has a NUL
    character.
    """
    try:
        text = body.decode("utf-8-sig")
        _refuse_depth(text)
        data: JsonValue = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as exc:
        raise Invalid("The body is not JSON.", kind="Payload") from exc
    if "\\u0000" in text and _has_nul(data):
        raise Invalid("The text contains a NUL character.", kind="Payload")
    return clean_json(data)


def _refuse_depth(text: str) -> None:
    # Counted before it is parsed: the parser itself gives up by recursion.
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            raise Invalid(f"JSON is nested at most {MAX_DEPTH} deep here.", kind="Payload")


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid(f"{name} is not JSON.", kind="Payload")


def _finite(digits: str) -> float:
    # 1e999 is a number of JSON and none of any database.
    number = float(digits)
    if not math.isfinite(number):
        _refuse_constant(digits)
    return number


def _has_nul(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any("\0" in key or _has_nul(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value
