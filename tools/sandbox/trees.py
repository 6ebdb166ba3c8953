"""The process trees that a piece of work has started, so that they can be killed from outside it.

Whoever cancels the work ends its trees as well, but waits until the work hears of it.
"""

from __future__ import annotations

from asyncio.subprocess import Process
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_work: ContextVar[str] = ContextVar("work", default="")
# How to kill each tree, by the work that has started it.
_trees: dict[str, list[tuple[Process, Callable[[], None]]]] = {}


@contextmanager
def collect_trees(work: str) -> Iterator[None]:
    """Count what is started in the block, and in tasks that begin in it, to this work."""
    token = _work.set(work)
    try:
        yield
    finally:
        _work.reset(token)


def add_tree(process: Process, kill: Callable[[], None]) -> None:
    """Count a process that was just started to the work of the caller. `kill` must not wait."""
    work = _work.get()
    if work:
        alive = [tree for tree in _trees.get(work, ()) if tree[0].returncode is None]
        _trees[work] = [*alive, (process, kill)]


def kill_trees(work: str) -> int:
    """Kill everything that this work has started. Returns: how many trees were alive."""
    alive = [kill for process, kill in _trees.get(work, ()) if process.returncode is None]
    for kill in alive:
        kill()
    return len(alive)


def forget_trees(work: str) -> None:
    """The work has ended, and its trees with it."""
    _trees.pop(work, None)
