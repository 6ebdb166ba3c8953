"""What people put into the settings of their editor, as `docs/editors.md` says it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from django.conf import settings

# What the documentation has in the place of one's own.
_ADDRESS, _TOKEN = "https://agents.example.com", "ocw_…"
_EDITOR = re.compile(r"^### (.+)\n(?:.*\n)*?```\w+\n((?:.*\n)*?)```$", re.M)


@cache
def _documented() -> tuple[tuple[str, str], ...]:
    text = Path(settings.ASSETS_DIR, "docs/editors.md").read_text("utf-8")
    return tuple((found[1], found[2].strip()) for found in _EDITOR.finditer(text))


def editor_settings(address: str, token: str) -> list[tuple[str, str]]:
    """Returns: the name of each editor, and its settings with the server's address and a token."""
    return [
        (name, text.replace(_ADDRESS, address).replace(_TOKEN, token))
        for name, text in _documented()
    ]
