"""JSON with comments and trailing commas, as people write settings."""

from __future__ import annotations

import json
import re

from opencode_web.lib.json import JsonValue

# Strings are taken as they are. Possessive, so that one which never ends costs no more than once.
_STRING = r'"(?:\\.|[^"\\])*+(?:"|\\?\Z)'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)


def parse_jsonc(text: str) -> JsonValue:
    """Read a text. Raises: ValueError saying where it is wrong."""
    text = _COMMENT.sub(lambda found: found[1] or " ", text)
    text = _COMMA.sub(lambda found: found[1] or "", text)
    try:
        value: JsonValue = json.loads(text)
    except json.JSONDecodeError as exc:
        raise ValueError(f"it is no JSON: {exc.msg}, line {exc.lineno}") from exc
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    return value
