"""Sentences in logs of schema version 1, and in rows of that time, read back as causes.

For those alone: what is written now has its cause beside the text. `old_sentences.json` has them as
they were then, by reason: it never changes with today's sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TypeAlias

from opencode_web.lib.reasons import Cause, Value
from sessions.events.reasons import REASONS

OLD_SENTENCES = Path(__file__).parent / "old_sentences.json"
Patterns: TypeAlias = Sequence[tuple[str, re.Pattern[str]]]
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


def patterns_of(sentences: Mapping[str, str]) -> Patterns:
    """Returns: what recognizes sentences, given by reason; the longest first."""
    # What begins like another one stands before it.
    ordered = sorted(sentences.items(), key=lambda one: len(_words(one[1])), reverse=True)
    return [(name, _pattern(sentence)) for name, sentence in ordered if _words(sentence)]


@cache
def _old_patterns() -> Patterns:
    return patterns_of(json.loads(OLD_SENTENCES.read_text(encoding="utf-8")))


def read_sentence(text: str, patterns: Patterns | None = None) -> Cause | None:
    """Returns: what an old English sentence of ours says; None for the words of others."""
    if not text or len(text) > _MAX_CHARS:
        return None
    patterns = _old_patterns() if patterns is None else patterns
    for name, pattern in patterns:
        if found := pattern.fullmatch(text):
            values = {
                key: _read_value(key, value, patterns) for key, value in found.groupdict().items()
            }
            return Cause(REASONS[name], values)
    return None


def _read_value(name: str, text: str, patterns: Patterns) -> Value:
    if name in _SENTENCES:
        return read_sentence(text, patterns) or text
    if amount := _DOLLARS.fullmatch(text):
        return Decimal(amount[1].replace(",", ""))
    if name == "day":
        with suppress(ValueError):
            return datetime.strptime(text, _DAY).replace(tzinfo=UTC).date()
    return text
