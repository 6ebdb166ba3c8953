"""Sentences of ours that the log has in English, in the language of the reader."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from opencode_web.lib.templatetags.ui import money
from sessions.actions.schedule_runs import FAILED_AGAIN, SKIPPED
from sessions.actions.schedules import PAUSED
from sessions.events.reasons import REASONS, read_cause
from sessions.models import Session
from sessions.present.data import text_of

# What begins like another one stands before it.
_TEMPLATES = (
    *sorted((one.sentence for one in REASONS.values()), key=len, reverse=True),
    *(PAUSED, FAILED_AGAIN, SKIPPED),
)
_FIELD = re.compile(r"\\\{(\w+)\\\}")
# Names and reasons have no end of their own: what is longer than this is no sentence of ours.
_MAX_CHARS = 2_000
_DOLLARS = re.compile(r"\$([\d,]+(?:\.\d+)?)")
_DAY = "%d %b %Y"


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(_FIELD.sub(r"(?P<\1>.+)", re.escape(template)), re.DOTALL)


_PATTERNS = [(template, _pattern(template)) for template in _TEMPLATES]


def said(text: str) -> str:
    """Returns: the same in the reader's language; what is not a sentence of ours as it is."""
    text = text.strip()
    if not text or len(text) > _MAX_CHARS:
        return text
    if (whole := _(text)) != text:
        return whole
    for template, pattern in _PATTERNS:
        if found := pattern.fullmatch(text):
            return _(template).format(
                **{key: _value(key, one) for key, one in found.groupdict().items()}
            )
    return text


def stored_text(cause: JsonObject | None, text: str) -> str:
    """Returns: a stored cause in the reader's language; `text` where there is none."""
    read = read_cause(cause or {})
    return read.worded() if read else said(text)


def outcome_of(session: Session) -> str:
    """Returns: how the latest turn ended, or what it waits for; "" when that is not said."""
    return stored_text(session.outcome_reason, session.outcome_detail)


def error_text(data: JsonObject) -> str:
    """`data`: that of an error. Returns: what it says, in the reader's language."""
    return stored_text(data, text_of(data, "message"))


def _value(name: str, text: str) -> str:
    if name in ("reason", "why", "said"):
        return said(text)
    if name == "name" and text == "somebody":
        return _("somebody")
    if amount := _DOLLARS.fullmatch(text):
        return money(Decimal(amount[1].replace(",", "")))
    if name == "day":
        with suppress(ValueError):
            return date_format(datetime.strptime(text, _DAY).replace(tzinfo=UTC), "DATE_FORMAT")
    return text

