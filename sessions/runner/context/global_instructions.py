"""`core/instructions-global`: what the operator and the team tell every agent."""

from __future__ import annotations

from django.conf import settings

from sessions.repository.reading import read_instructions
from sessions.runner.context.documents import Document, Documents, bound, document_source
from sessions.runner.context.source import ContextInputs

FILE = "AGENTS.md"
SERVER = "the operator of this server"
SETTINGS = "the settings of the team or project"
_INTRO = "Instructions for every agent here. Where two differ, the first counts."


def _observe(inputs: ContextInputs, known: Documents | None) -> Documents | None:
    # Unavailable is for the caller: then all of what is known stays.
    path = settings.DATA_DIR / FILE
    own = read_instructions(settings.DATA_DIR, path)
    return bound(
        [
            Document(origin=SERVER, text=own or ""),
            Document(origin=SETTINGS, text=inputs.config.instructions_text),
        ]
    )


SOURCE = document_source("core/instructions-global", _INTRO, _observe)
