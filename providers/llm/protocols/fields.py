"""Reads what a frame should hold, and takes what it does not hold for empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..json import JsonObject, JsonValue


def object_at(fields: JsonObject, name: str) -> JsonObject:
    """Returns: the object of this name; an empty one for anything else."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def list_at(fields: JsonObject, name: str) -> list[JsonValue]:
    """Returns: the list of this name; an empty one for anything else."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def text_at(fields: JsonObject, name: str) -> str:
    """Returns: the text of this name; an empty one for anything else."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def count_at(fields: Mapping[str, Any], name: str) -> int:
    """Returns: the number of this name; 0 for anything else."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
