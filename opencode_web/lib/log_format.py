from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def logging_config(*, as_json: bool, level: str, access_level: str) -> dict[str, Any]:
    """Returns: Django's `LOGGING`. `access_level` is that of the lines about requests."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": "opencode_web.lib.log_format.LineFormatter", "format": _FORMAT},
            "json": {"()": "pythonjsonlogger.json.JsonFormatter", "format": _FORMAT},
        },
        "handlers": {
            "console": {
                "class": "opencode_web.lib.outage_log.OutageHandler",
                "formatter": "json" if as_json else "line",
            }
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.channels.server": {"level": access_level},
            "daphne": {"level": "WARNING"},
        },
    }


class LineFormatter(logging.Formatter):
    """A line for people: the message, then the fields of an operation as `key=value`."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Keep what is said on one line: some of it is quoted from other programs."""
        line = super().formatMessage(record)
        if line.isprintable():
            return line
        signs = (one if one.isprintable() else ascii(one)[1:-1] for one in line)
        return "".join(signs)

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
