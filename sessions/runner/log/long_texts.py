"""Texts that people send and that are too long for the model: it reads their ends, and where the
whole is kept as a Managed Tool Output File.

What the model reads of one follows from the text and the model alone, so that consecutive requests
share their prefix.
"""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from opencode_web.lib.ids import new_id
from providers.tokens import CHARS_PER_TOKEN, estimate
from sessions.events.parts import TextPart

logger = logging.getLogger(__name__)

# The part of a model's room that one prompt may take up.
SHARE = 0.5
# Of each end of a text that is longer.
_MOST_SHOWN_CHARS = 10_000
# The tool read cuts lines that are longer.
_LINE_CHARS = 2_000


def shown_texts(parts: list[TextPart], room: int | None) -> dict[str, str]:
    """What the model reads of the texts of a prompt, by the ids of the parts.

    Units: `room` is what a conversation may take up of the model's context, in tokens; None while
    that is unknown.
    """
    texts = {part.id: part.text for part in parts}
    if room is None or sum(map(estimate, texts.values())) <= room * SHARE:
        return texts
    end_chars = min(_MOST_SHOWN_CHARS, int(room * SHARE * CHARS_PER_TOKEN) // (2 * len(parts)))
    return {
        part.id: _ends(part, end_chars) if len(part.text) > 2 * end_chars else part.text
        for part in parts
    }


def _ends(part: TextPart, count: int) -> str:
    text = part.text
    path = _keep(part)
    where = "It could not be kept: ask the user to put it into a file of the project."
    if path is not None:
        where = (
            f"The whole text is in {path}, with lines of at most {_LINE_CHARS:,} characters: use "
            "grep, and read with offset and limit."
        )
    left_out = len(text) - 2 * count
    note = f"[{left_out:,} characters of this text are left out here. {where}]"
    return f"{text[:count]}\n\n{note}\n\n{text[len(text) - count :]}"


def _keep(part: TextPart) -> Path | None:
    """Write the text where the tools of its session may read it, unless it is there."""
    folder = settings.DATA_DIR / "tool-output" / part.sessionID
    # A part that is edited keeps its id.
    digest = hashlib.sha256(part.text.encode()).hexdigest()[:16]
    path = Path(folder, f"tool_{part.id}_{digest}")
    if path.exists():
        return path
    draft = folder / new_id("tool")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, 0o600), "w", encoding="utf-8") as file:
            file.writelines(_wrapped(part.text))
        draft.rename(path)
    except OSError as exc:
        with suppress(OSError):
            draft.unlink()
        logger.warning("long_text.not_kept session=%s error=%s", part.sessionID, exc.strerror)
        return None
    return path


def _wrapped(text: str) -> list[str]:
    return [
        f"{line[start : start + _LINE_CHARS]}\n"
        for line in text.splitlines()
        for start in range(0, max(len(line), 1), _LINE_CHARS)
    ]
