"""The approved request that a change is made for, so that the change itself can see it.

Only the action that approves sets it. What is recorded meanwhile names who has approved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Approval:
    """`what` and `fingerprint` bind it to one change of one state."""

    request_id: str
    what: str
    fingerprint: str
    by_email: str


_current: ContextVar[Approval | None] = ContextVar("approval", default=None)


def current_approval() -> Approval | None:
    """Returns: None for what somebody does alone."""
    return _current.get()


@contextmanager
def approving(approval: Approval) -> Iterator[None]:
    """Have what happens inside be done with this approval."""
    token = _current.set(approval)
    try:
        yield
    finally:
        _current.reset(token)
