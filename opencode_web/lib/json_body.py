"""JSON that clients send, as every database and every other client can take it."""

from __future__ import annotations

import json

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import MAX_DEPTH, JsonValue, read_json
from opencode_web.lib.text import clean_json

__all__ = ["MAX_DEPTH", "parse_json"]


def parse_json(body: bytes) -> JsonValue:
    """Parse a body; text that cannot be stored is replaced by U+FFFD.

    Raises: Invalid for what is no JSON (also NaN and Infinity), is nested too deeply, or has a NUL
    character.
    """
    try:
        text = body.decode("utf-8-sig")
        data = read_json(text)
    except (UnicodeDecodeError, json.JSONDecodeError) as exc:
        raise Invalid("The body is not JSON.", kind="Payload") from exc
    except ValueError as exc:
        raise Invalid(f"The body is not JSON: {exc}.", kind="Payload") from exc
    if "\\u0000" in text and _has_nul(data):
        raise Invalid("The text contains a NUL character.", kind="Payload")
    return clean_json(data)


def _has_nul(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any("\0" in key or _has_nul(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value
