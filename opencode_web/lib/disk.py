from __future__ import annotations

import errno
from collections.abc import Iterator

from django.utils.translation import gettext_noop

DISK_FULL = gettext_noop(
    "The server's disk is full. Nothing that was accepted is lost: free some space on the server, "
    "then try again."
)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# As SQLite, PostgreSQL and git say it.
_SAID = ("disk is full", "no space left on device", "disk quota exceeded")


def is_disk_full(exc: BaseException) -> bool:
    """Whether something failed because the disk, or the server's share of it, is full."""
    return any(_says_full(one) for one in causes_of(exc))


def causes_of(exc: BaseException) -> Iterator[BaseException]:
    """Yield the error, then each that it was raised from."""
    current: BaseException | None = exc
    while current is not None:
        yield current
        current = current.__cause__


def _says_full(exc: BaseException) -> bool:
    if isinstance(exc, OSError) and exc.errno is not None:
        return exc.errno in _FULL
    return any(said in str(exc).lower() for said in _SAID)
