from __future__ import annotations

from sessions.commands.marks import read_mark
from sessions.events.parts import SubtaskPart, TextPart
from sessions.inbox import parts_of
from sessions.models import SessionInput

MAX_CHARS = 80


def title_from(prompt: SessionInput) -> str:
    """A title from what was asked: the first line that says something, cut at a word where that
    leaves most of it.

    What somebody typed counts, and not the template of a command.

    Returns: "" when the prompt has no text of the person's own.
    """
    texts = (
        part.prompt if isinstance(part, SubtaskPart) else _typed(part)
        for part in parts_of(prompt)
        if isinstance(part, SubtaskPart)
        or (isinstance(part, TextPart) and (not part.synthetic or read_mark(part)))
    )
    lines = (line.strip(" #*->\t") for text in texts for line in text.splitlines())
    first = " ".join(next((line for line in lines if line), "").split())
    if len(first) <= MAX_CHARS:
        return first
    words = first[:MAX_CHARS].rsplit(" ", 1)[0]
    return f"{words if len(words) > MAX_CHARS // 2 else first[:MAX_CHARS]}…"


def _typed(part: TextPart) -> str:
    mark = read_mark(part)
    if mark is not None and mark.typed:
        return mark.arguments
    return f"/{mark.name} {mark.arguments}" if mark else part.text
