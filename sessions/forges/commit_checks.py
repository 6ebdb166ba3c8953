"""What a commit is said to be like, beside it on the forge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# What forges list it by.
NAME = "OpenCode Web"
_MAX_TITLE_CHARS = 120


class CheckState(StrEnum):
    """How far it is, or how it has ended."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Annotation:
    """What is said of lines of the commit."""

    path: str
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class CommitCheck:
    """`mark` is what it is found again by, where the forge keeps such; `url` the page about it.

    Only a check run of GitHub has a summary and annotations; a status has the title.
    """

    mark: str
    commit: str
    url: str
    state: CheckState
    title: str
    summary: str = ""
    annotations: tuple[Annotation, ...] = ()

    def status(self, state: str) -> dict[str, str]:
        """Returns: what GitHub, Gitea and GitLab have in common of a status."""
        link = {"target_url": self.url} if self.url else {}
        return {"state": state, "description": self.title[:_MAX_TITLE_CHARS], **link}
