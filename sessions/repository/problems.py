from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """A file of a repository that is not used as it was meant, and why, for the people there."""

    path: str
    reason: str
