"""Paths as file addresses and back. Pure.

Source: RFC 8089, and LSP 3.17, "URI": servers encode other characters than we do.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

_MAX_CHARS = 8_000


def to_uri(path: Path | str) -> str:
    """Write an absolute path as an address."""
    return Path(path).as_uri()


def to_path(uri: object) -> str | None:
    """Read the path of an address that a server gave. Returns: None when it is no local file."""
    if not isinstance(uri, str) or len(uri) > _MAX_CHARS:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = os.fsdecode(unquote_to_bytes(parts.path))
    if not path.startswith("/") or "\0" in path:
        return None
    return os.path.normpath(path)
