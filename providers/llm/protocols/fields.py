"""Reads what a frame should hold, and takes what it does not hold for empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..json import JsonObject, JsonValue

# Ten times what the largest models read. A server that counts more is wrong: no budget would be
# left after it, and no column holds a number without end.
_MOST_TOKENS = 100_000_000


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
    """Returns: the number of this name; 0 for anything else, and for more than there can be."""
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value <= _MOST_TOKENS else 0
