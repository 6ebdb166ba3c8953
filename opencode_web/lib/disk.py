from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator

from django.db import OperationalError
from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Cause, Reason


class DiskReason(Reason):
    """Why nothing could be written."""

    FULL = (
        "disk_full",
        gettext_noop(
            "The server's disk is full. Nothing that was accepted is lost: free some space on the "
            "server, then try again."
        ),
    )


DISK_FULL = Cause(DiskReason.FULL)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# As SQLite, PostgreSQL, git and `shutil` say it.
_SAID = ("disk is full", "no space left on device", "disk quota exceeded")


class ProgramError(Exception):
    """Base of errors whose text is what a program of this server said when it failed."""


# Those of others, such as an IntegrityError, quote what people have typed.
_SAYING = (OperationalError, ProgramError, shutil.Error)


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
    return isinstance(exc, _SAYING) and any(said in str(exc).lower() for said in _SAID)
