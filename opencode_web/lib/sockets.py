"""How many websockets are open in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Changed on the one loop that serves them.
_open = 0


@contextmanager
def counted_socket() -> Iterator[None]:
    """Count a websocket for as long as the block runs."""
    global _open
    _open += 1
    try:
        yield
    finally:
        _open -= 1


def open_sockets() -> int:
    """Returns: how many there are now."""
    return _open
