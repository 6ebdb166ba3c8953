"""What JSON can hold, and a strict reader of what models write."""

from __future__ import annotations

import json
import math
from typing import NoReturn, TypeAlias

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]

__all__ = ["JsonObject", "JsonValue", "dump", "parse_arguments", "read_object"]

# Whoever stores or walks a value does so by recursion.
MAX_DEPTH = 50


def parse_arguments(raw: str) -> JsonObject | None:
    """Returns: the arguments of a call; an empty object for no text; None when it is no object."""
    return read_object(raw) if raw.strip() else {}


def read_object(raw: str) -> JsonObject | None:
    """Returns: a JSON object; None for anything else, and for what no database stores."""
    try:
        value: JsonValue = json.loads(raw, parse_constant=_refuse, parse_float=_finite)
        return value if isinstance(value, dict) and not is_deep(value) else None
    except (ValueError, RecursionError):
        return None


def dump(value: JsonValue) -> str:
    """Write JSON as it is put into a text of a request: compact, and the same every time."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return number


def is_deep(value: JsonValue) -> bool:
    """Whether it has more levels than what stores or walks values is sure to bear."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for one in level
            if isinstance(one, dict | list)
            for child in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
