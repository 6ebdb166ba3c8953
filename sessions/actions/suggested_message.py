"""What a commit is called where nobody says it."""

from __future__ import annotations

import textwrap

from opencode_web.lib.json import list_of, text_of
from sessions.actions.sessions import is_default_title
from sessions.models import Checkout, Message, Part, Session

_MAX_SUBJECT_CHARS = 72


def suggested_message(session: Session, row: Checkout | None) -> str:
    """The session's title; once something of it is committed, what was asked for last."""
    title = "" if is_default_title(session.title) else session.title
    if title and not (row and list_of(row.survey, "commits")):
        return _subject(title)
    return _newest_prompt(session) or _subject(title)


def _subject(text: str) -> str:
    """Cut between two words, where that leaves most of it. A title may be cut already."""
    most = text.removesuffix("…")[:_MAX_SUBJECT_CHARS]
    words = textwrap.shorten(text.removesuffix("…"), _MAX_SUBJECT_CHARS, placeholder="")
    return words if len(words) > len(most) // 2 else most


def _newest_prompt(session: Session) -> str:
    message = Message.objects.visible(session).filter(role="user").order_by("-seq").first()
    if message is None:
        return ""
    parts = Part.objects.filter(message=message, type="text").order_by("seq", "id")
    texts = [text_of(part.data, "text") for part in parts if not part.data.get("synthetic")]
    lines = (line.strip() for line in texts[0].splitlines()) if texts else iter(())
    return _subject(next(filter(None, lines), ""))
