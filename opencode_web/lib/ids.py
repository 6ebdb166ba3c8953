"""Prefixed ids that sort by time, in the format of OpenCode.

`<prefix>_` + 12 hex digits (the low 48 bits of milliseconds * 4096 + counter) + 14 random base62
characters. Session ids carry the bitwise NOT of the time, so that the newest sorts first.
Source: OpenCode's identifiers.
"""

from __future__ import annotations

import re
import secrets
import string
import threading
import time

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_MASK = (1 << 48) - 1
_DESCENDING = frozenset({"ses"})
_PATTERN = re.compile(r"[a-z]{2,5}_[0-9a-f]{12}[0-9A-Za-z]{14}")

_lock = threading.Lock()
_last = 0


def new_id(prefix: str, *, at_ms: int | None = None) -> str:
    """Make an id of the kind `prefix` (`ses`, `msg`, `prt`, `per`, `evt`, …).

    Ids made by one process are strictly ascending (descending for sessions), also within one
    millisecond. With `at_ms` the id is placed at that time instead of now.
    """
    global _last
    with _lock:
        stamp = (int(time.time() * 1000) if at_ms is None else at_ms) * 4096
        if at_ms is None:
            stamp = max(stamp, _last + 1)
            _last = stamp
    bits = ~stamp & _MASK if prefix in _DESCENDING else stamp & _MASK
    return f"{prefix}_{bits:012x}{''.join(secrets.choice(_ALPHABET) for _ in range(14))}"


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` is a well-formed id of that kind. Clients may make their own message ids."""
    return text.startswith(f"{prefix}_") and _PATTERN.fullmatch(text) is not None


def is_fresh(id: str, prefix: str, *, within_s: float) -> bool:
    """Whether a well-formed id of that kind was made just now, as it says by a clock near ours."""
    bits = int(id[len(prefix) + 1 :][:12], 16)
    made_ms = (~bits & _MASK if prefix in _DESCENDING else bits) // 4096
    around_ms = 1 << 36
    distance = (int(time.time() * 1000) - made_ms) % around_ms
    return min(distance, around_ms - distance) <= within_s * 1000


_SLUG_FIRST = [
    "amber",
    "brave",
    "calm",
    "clever",
    "bright",
    "eager",
    "gentle",
    "happy",
    "kind",
    "lucky",
    "mellow",
    "nimble",
    "proud",
    "quiet",
    "swift",
    "witty",
]
_SLUG_LAST = [
    "falcon",
    "river",
    "comet",
    "harbor",
    "lagoon",
    "maple",
    "meadow",
    "nebula",
    "orchid",
    "otter",
    "panda",
    "pixel",
    "rocket",
    "summit",
    "tiger",
    "willow",
]


def new_slug() -> str:
    """Two words, such as `swift-nebula`. A label for people; nothing depends on it."""
    return f"{secrets.choice(_SLUG_FIRST)}-{secrets.choice(_SLUG_LAST)}"
