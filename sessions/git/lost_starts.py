"""A bound for work that ends the process that does it.

Whoever rings again for work whose worker died would do so for ever where the work itself is what
kills the worker: a repository that needs more memory than there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext_noop

MAX_LOST = 5
LOST = gettext_noop("It was begun five times, and each time its worker was lost.")


@contextmanager
def counted_start(folder: Path, name: str) -> Iterator[bool]:
    """Count a start until its end, whatever that is; only a process that dies leaves it counted.

    Hold the lock of what is started. Yields: whether it was lost so often that it has to end.
    """
    file = folder / f"{name}.starts"
    lost = file.stat().st_size if file.exists() else 0
    with file.open("ab") as starts:
        starts.write(b".")
    try:
        yield lost >= MAX_LOST
    finally:
        file.unlink(missing_ok=True)
