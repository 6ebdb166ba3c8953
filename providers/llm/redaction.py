"""Take keys out of text that came from a provider: some repeat the key in their error."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .secret import Secret

MASK = "•••"
# Shorter values (a local server's "x") would blank out ordinary words.
MIN_SECRET_CHARS = 6

_LOOKS_LIKE_A_KEY = re.compile(
    r"(?i:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|\b(?:sk|pk|gsk|xai|key)[-_][A-Za-z0-9_*-]{8,}"
    # Google, GitHub, AWS, and signed tokens.
    r"|\bAIza[A-Za-z0-9_-]{20,}|\b(?:gh[a-z]|github_pat)_[A-Za-z0-9_]{8,}|\bA[KS]IA[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+"
)


def redact(text: str, *, secrets: Iterable[Secret] = ()) -> str:
    """Return `text` with the given secrets, and anything that looks like a key, masked."""
    for secret in secrets:
        value = secret.reveal()
        if len(value) >= MIN_SECRET_CHARS:
            text = text.replace(value, MASK)
    return _LOOKS_LIKE_A_KEY.sub(MASK, text)
