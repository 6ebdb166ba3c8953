from __future__ import annotations

from sessions.models import SessionInput

MAX_CHARS = 80


def title_from(prompt: SessionInput) -> str:
    """A title from what was asked: the first line that says something, cut at a word.

    Returns: "" when the prompt has no text of the person's own.
    """
    texts = (
        part["text"]
        for part in prompt.data["parts"]
        if part["type"] == "text" and not part.get("synthetic")
    )
    lines = (line.strip(" #*->\t") for text in texts for line in text.splitlines())
    first = " ".join(next((line for line in lines if line), "").split())
    if len(first) <= MAX_CHARS:
        return first
    return f"{first[:MAX_CHARS].rsplit(' ', 1)[0]}…"
