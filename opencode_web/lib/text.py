"""Text that every database and every JSON parser takes."""

from __future__ import annotations

import re

from django.utils.text import slugify

from opencode_web.lib.json import JsonValue

# NUL cannot stand in PostgreSQL's text and jsonb, and a lone surrogate is no UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
# Letters that have no accent to lose, and those that German writes with two others.
_WRITTEN_OUT = str.maketrans(
    {"ß": "ss", "ä": "ae", "ö": "oe", "ü": "ue", "æ": "ae", "ø": "oe", "å": "aa", "ł": "l"}
)
# Colours and the like.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean_text(text: str) -> str:
    """Replace what cannot be stored by U+FFFD."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def printable_text(text: str) -> str:
    """Take control characters but tabs and line feeds out, and clean the rest."""
    return clean_text(_UNPRINTABLE.sub("", text))


def slug_of(text: str) -> str:
    """Returns: a slug in which ß, ä, ø and the like are written out, not left out."""
    return slugify(text.lower().translate(_WRITTEN_OUT))


def is_secret_text(text: str, *, max_chars: int) -> bool:
    """Whether it can be a key or token: printable ASCII on one line, which a header can have.

    An empty one can.
    """
    return len(text) <= max_chars and text.isascii() and text.isprintable()


def clean_json(value: JsonValue) -> JsonValue:
    """Clean every string in a value, keys too."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): clean_json(item) for key, item in value.items()}
    return value
