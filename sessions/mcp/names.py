"""Names that MCP servers may have."""

from __future__ import annotations

from django.utils.translation import gettext_noop

MAX_CHARS = 40
WRONG_NAME = gettext_noop(
    "Its name is longer than 40 characters, empty, begins or ends with a space, or has characters "
    "that cannot be seen."
)


def is_name(name: str) -> bool:
    """Whether a server may have this name: up to 40 characters that can be seen, and spaces."""
    return 0 < len(name) <= MAX_CHARS and name.isprintable() and name == name.strip()
