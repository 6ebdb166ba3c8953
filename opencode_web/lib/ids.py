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
_TAIL_CHARS = 14
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
    return _made(prefix, ~stamp if prefix in _DESCENDING else stamp)


def new_id_between(prefix: str, *, after: str = "", before: str = "") -> str:
    """Make an id of an ascending kind that sorts between two others, either of which may be absent.

    Raises: ValueError when there is no room, or when they are in the wrong order.
    """
    made = new_id(prefix)
    if not after < made or (before and not made < before):
        low = _stamp(after, prefix) if after else -1
        stamp = _stamp(before, prefix) - 1 if before else low + 1
        made = _made(prefix, stamp) if stamp > low else _next_tail(after)
    if not after < made or (before and not made < before):
        raise ValueError(f"No id between {after} and {before}")
    return made


def _made(prefix: str, bits: int) -> str:
    tail = "".join(secrets.choice(_ALPHABET) for _ in range(_TAIL_CHARS))
    return f"{prefix}_{bits & _MASK:012x}{tail}"


def _stamp(id: str, prefix: str) -> int:
    return int(id[len(prefix) + 1 :][:12], 16)


def _next_tail(id: str) -> str:
    """The next id of the same moment; the same one when it is the last."""
    head, tail = id[:-_TAIL_CHARS], id[-_TAIL_CHARS:]
    kept = tail.rstrip(_ALPHABET[-1])
    if not kept:
        return id
    following = _ALPHABET[_ALPHABET.index(kept[-1]) + 1]
    return f"{head}{kept[:-1]}{following}".ljust(len(id), _ALPHABET[0])


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` is a well-formed id of that kind. Clients may make their own message ids."""
    return text.startswith(f"{prefix}_") and _PATTERN.fullmatch(text) is not None


def is_fresh(id: str, prefix: str, *, within_s: float) -> bool:
    """Whether a well-formed id of that kind was made just now, as it says by a clock near ours."""
    bits = _stamp(id, prefix)
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
