"""What JSON can hold, as types that mypy and pydantic both understand; a strict reader, and readers
of single values in an object of unknown shape."""

from __future__ import annotations

import json
import math
from typing import NoReturn, TypeAlias

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]

__all__ = [
    "MAX_DEPTH",
    "JsonObject",
    "JsonValue",
    "list_of",
    "number_of",
    "object_of",
    "read_json",
    "text_of",
]

# Whatever walks a value does so by recursion.
MAX_DEPTH = 50


def read_json(text: str) -> JsonValue:
    """Read what a model or a stranger wrote.

    Raises: json.JSONDecodeError with the position, or another ValueError: for what Python reads but
    no database stores (NaN, infinity, 1e999), too many digits, or more than MAX_DEPTH levels.
    """
    try:
        value: JsonValue = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as exc:
        raise ValueError(_TOO_DEEP) from exc
    if _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def _is_deep(value: JsonValue) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return False
    return True


def _inside(value: JsonValue) -> list[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return list(value.values())
        case _:
            return []


def text_of(data: JsonObject, key: str) -> str:
    """Returns: the text under a key; "" when there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def object_of(data: JsonObject, key: str) -> JsonObject:
    """Returns: the object under a key; an empty one when there is none."""
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def list_of(data: JsonObject, key: str) -> list[JsonValue]:
    """Returns: the list under a key; an empty one when there is none."""
    value = data.get(key)
    return value if isinstance(value, list) else []


def number_of(data: JsonObject, key: str) -> int | None:
    """Returns: the number under a key without its fraction; None when there is none."""
    value = data.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
