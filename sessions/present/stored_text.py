"""What the log and rows say to people, in the language of the reader."""

from __future__ import annotations

from django.utils.text import Truncator
from django.utils.translation import gettext

from opencode_web.lib.json import JsonObject, text_of
from sessions.events.reasons import read_cause
from sessions.models import Session
from sessions.present.old_logs import read_sentence

_SHORT_CHARS = 200


def stored_text(cause: JsonObject | None, text: str) -> str:
    """Returns: a stored cause in words; where there is none `text`, which others have said."""
    text = text.strip()
    told = read_cause(cause or {}) or read_sentence(text)
    if told is not None:
        return told.worded()
    # A provider that is not set up well is told of in whole sentences of the catalogues.
    return gettext(text) if text else ""


def outcome_of(session: Session) -> str:
    """Returns: how the latest turn ended, or what it waits for; "" when that is not said."""
    return stored_text(session.outcome_reason, session.outcome_detail)


def short_outcome_of(session: Session) -> str:
    """Returns: the same, as long as there is room for it in a list."""
    return Truncator(outcome_of(session)).chars(_SHORT_CHARS)


def error_text(data: JsonObject) -> str:
    """`data`: that of an error. Returns: what it says."""
    return stored_text(data, text_of(data, "message"))
