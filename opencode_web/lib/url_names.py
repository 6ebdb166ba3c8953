"""Names that people have chosen, in the addresses of pages."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_CODED = "~"


class NameConverter:
    """Any text as one segment of a path: as it is if it is plain, otherwise in base64.

    A slash would end the segment even if it were quoted, and browsers take `..` away.
    """

    regex = rf"{_CODED}?{_PLAIN.pattern}"

    def to_python(self, value: str) -> str:
        """Raises: ValueError, which Django answers with *not found*."""
        if not value.startswith(_CODED):
            return value
        coded = value.removeprefix(_CODED)
        return urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode()

    def to_url(self, value: str) -> str:
        if _PLAIN.fullmatch(value):
            return value
        # A name that is empty has no address of its own.
        coded = urlsafe_b64encode(value.encode(errors="replace") or b"?").decode()
        return _CODED + coded.rstrip("=")
