"""The key of the first-run page: who can read the server's terminal or data folder is the owner."""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from django.conf import settings


def _path() -> Path:
    return Path(settings.DATA_DIR, "setup_key")


def ensure_setup_key() -> str:
    """Returns: the key, made on first use and readable by the server's user only."""
    path = _path()
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text()


def is_setup_key(given: str) -> bool:
    """Compare in constant time. False when there is no key (any more)."""
    path = _path()
    return path.exists() and hmac.compare_digest(path.read_text().encode(), given.encode())


def remove_setup_key() -> None:
    """End the first run."""
    _path().unlink(missing_ok=True)
