"""What every forge can be asked for, whichever API it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from opencode_web.lib.reasons import Cause, Told, Value, english
from sessions.forges.reasons import ForgeReason


class ForgeKind(StrEnum):
    """Which API a forge speaks. Forgejo's is Gitea's."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class PullState(StrEnum):
    """How a pull request stands. A draft is open."""

    OPEN = "open"
    DRAFT = "draft"
    MERGED = "merged"
    CLOSED = "closed"


class Checks(StrEnum):
    """What the automatic checks of a pull request's newest commit say, all together."""

    NONE = ""
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True)
class CheckCounts:
    """How many checks say what. All are 0 where a forge tells of all together only."""

    passed: int = 0
    failed: int = 0
    running: int = 0

    @property
    def together(self) -> Checks:
        """What they say as one."""
        if self.failed:
            return Checks.FAILED
        if self.running:
            return Checks.RUNNING
        return Checks.PASSED if self.passed else Checks.NONE


@dataclass(frozen=True)
class Wanted:
    """A pull request that is to be opened: the branch `head` into the branch `base`."""

    title: str
    body: str
    head: str
    base: str
    draft: bool = False


@dataclass(frozen=True)
class Pull:
    """A pull request. `number` is what people call it by; `url` is its page, http or https."""

    number: int
    url: str
    title: str
    base: str
    state: PullState
    checks: Checks = Checks.NONE
    counts: CheckCounts = CheckCounts()


class ForgeError(Exception):
    """It could not be done. `told` says why and what to do, for people, without the token."""

    def __init__(self, told: ForgeReason | Told, /, **values: Value) -> None:
        self.told: Told = Cause(told, values) if isinstance(told, ForgeReason) else told
        super().__init__(english(self.told))


class AlreadyOpen(ForgeError):
    """There is an open pull request of this branch."""


class Forge(Protocol):
    """One repository on a forge, with an access token."""

    async def create(self, wanted: Wanted) -> Pull:
        """Open a pull request. Raises: AlreadyOpen; ForgeError."""
        ...

    async def find(self, head: str) -> Pull | None:
        """Find the open pull request of a branch of this repository. Raises: ForgeError."""
        ...

    async def read(self, number: int) -> Pull:
        """Read a pull request, with its checks while it is open. Raises: ForgeError."""
        ...
