"""Who is told that there is room for calls that stand in line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Bell = Callable[[Sequence[str]], None]
_bells: list[Bell] = []


def on_room(ring: Bell) -> None:
    """Have `ring` called with the calls that there may be room for now, after the commit."""
    if ring not in _bells:
        _bells.append(ring)


def ring_for(calls: Sequence[str]) -> None:
    """Tell whoever waits for it."""
    for ring in _bells if calls else ():
        ring(calls)
