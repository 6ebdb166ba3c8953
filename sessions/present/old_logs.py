"""Sentences in logs of schema version 1, and in rows of that time, read back as causes.

For those alone: what is written now has its cause beside the text.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

from opencode_web.lib.reasons import Cause, Value
from sessions.events.reasons import REASONS

_FIELD = re.compile(r"\{(\w+)\}")
# Names and reasons have no end of their own: what is longer than this is no sentence of ours.
_MAX_CHARS = 2_000
_DOLLARS = re.compile(r"\$([\d,]+(?:\.\d+)?)")
_DAY = "%d %b %Y"
# Values that may be sentences themselves.
_SENTENCES = {"reason", "why", "said", "name"}


def _words(sentence: str) -> str:
    return _FIELD.sub("", sentence).strip()


def _pattern(sentence: str) -> re.Pattern[str]:
    texts = _FIELD.split(sentence)
    fields = (f"(?P<{text}>.+)" if odd % 2 else re.escape(text) for odd, text in enumerate(texts))
    return re.compile("".join(fields), re.DOTALL)


# What begins like another one stands before it.
_PATTERNS = [
    (reason, _pattern(reason.sentence))
    for reason in sorted(REASONS.values(), key=lambda one: len(_words(one.sentence)), reverse=True)
    if _words(reason.sentence)
]


def read_sentence(text: str) -> Cause | None:
    """Returns: what an English sentence of ours says; None for the words of others."""
    if not text or len(text) > _MAX_CHARS:
        return None
    for reason, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            values = {name: _read_value(name, value) for name, value in found.groupdict().items()}
            return Cause(reason, values)
    return None


def _read_value(name: str, text: str) -> Value:
    if name in _SENTENCES:
        return read_sentence(text) or text
    if amount := _DOLLARS.fullmatch(text):
        return Decimal(amount[1].replace(",", ""))
    if name == "day":
        with suppress(ValueError):
            return datetime.strptime(text, _DAY).replace(tzinfo=UTC).date()
    return text
