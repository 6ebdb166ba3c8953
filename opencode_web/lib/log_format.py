from __future__ import annotations

import logging
from collections.abc import Mapping


class LineFormatter(logging.Formatter):
    """A line for people: the message, then the fields of an operation as `key=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """Quotes a value that has a space, so that a line can be taken apart again."""
        fields = getattr(record, "fields", None)
        line = super().format(record)
        if not isinstance(fields, Mapping):
            return line
        head, newline, rest = line.partition("\n")
        pairs = (f"{key}={_quoted(str(value))}" for key, value in fields.items())
        return " ".join((head, *pairs)) + newline + rest


def _quoted(text: str) -> str:
    plain = text and text.isprintable() and not any(sign in text for sign in " \"'=")
    return text if plain else repr(text)
