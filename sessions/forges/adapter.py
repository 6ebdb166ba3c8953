"""What every forge can be asked for, whichever API it speaks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, Self

from django.utils.translation import gettext

from opencode_web.lib.reasons import Cause, Told, Value, english
from sessions.forges.commit_checks import CommitCheck
from sessions.forges.reasons import ForgeReason
from sessions.forges.reviews import Diff, Review


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
    """A pull request. `number` is what people call it by; `url` is its page, http or https.

    `head` is its newest commit, which is on `branch`, `fetch` the ref of the repository that it can
    be fetched by, and `is_fork` whether its branch is in another repository, or in none any more.
    """

    number: int
    url: str
    title: str
    base: str
    state: PullState
    checks: Checks = Checks.NONE
    counts: CheckCounts = CheckCounts()
    head: str = ""
    branch: str = ""
    fetch: str = ""
    is_fork: bool = False


@dataclass(frozen=True)
class Thread:
    """Where people talk on a forge: an issue or a pull request, by its number."""

    number: int
    is_pull: bool = False

    def __str__(self) -> str:
        return f"{'pull' if self.is_pull else 'issue'}/{self.number}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` has made of one."""
        kind, _, number = text.partition("/")
        return cls(int(number), kind == "pull")


class Reaction(StrEnum):
    """How far the answer to a comment is."""

    EYES = "eyes"
    HOORAY = "hooray"
    CONFUSED = "confused"


# What a reaction can be to beside a comment by its id: the issue or pull request itself, and with
# the id behind it a comment on a line, where those have ids of their own.
OPENED, LINE = "opened", "line:"


class ForgeError(Exception):
    """It could not be done. `told` says why and what to do, for people, without the token.

    `wait_s` is how long the forge wants to be left alone, 0 where it does not say.
    """

    wait_s = 0

    def __init__(self, told: ForgeReason | Told, /, **values: Value) -> None:
        self.told: Told = Cause(told, values) if isinstance(told, ForgeReason) else told
        super().__init__(english(self.told))

    def worded(self) -> str:
        """Returns: `told` in the language of whoever reads it now."""
        return self.told.worded() if isinstance(self.told, Cause) else gettext(self.told)

    @property
    def reason(self) -> ForgeReason | None:
        """Why, without what the forge says about it; None for what was not asked of it."""
        told = self.told
        while isinstance(told, Cause):
            if not isinstance(inner := told.values.get("reason"), Cause):
                return told.reason if isinstance(told.reason, ForgeReason) else None
            told = inner
        return None


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

    async def comment(self, thread: Thread, text: str) -> str:
        """Write a comment, in Markdown. Returns: its id. Raises: ForgeError."""
        ...

    async def edit_comment(self, thread: Thread, comment: str, text: str) -> None:
        """Write another text in a comment. Raises: ForgeError."""
        ...

    async def find_comment(self, thread: Thread, text: str, *, since: datetime) -> str:
        """Find a comment that has a text in it.

        Returns: its id, empty for none since then. Raises: ForgeError.
        """
        ...

    async def own_account(self) -> str:
        """Returns: the number of the token's account, or nothing. Raises: ForgeError."""
        ...

    async def may_push(self, name: str, account_id: str) -> bool:
        """Whether an account may push to the repository. Raises: ForgeError."""
        ...

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        """React to a comment, or to what `OPENED` and `LINE` say, unless that was done before.

        Returns: the id of the reaction. Raises: ForgeError.
        """
        ...

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        """Take a reaction back: `made` is what `react` has returned. Raises: ForgeError."""
        ...

    async def default_branch(self) -> str:
        """Returns: the branch that the forge shows first. Raises: ForgeError."""
        ...

    async def read_diff(self, number: int) -> Diff:
        """Read which lines of a pull request can be commented on. Raises: ForgeError."""
        ...

    async def post_review(self, number: int, review: Review, *, is_again: bool) -> str:
        """Write a review. `is_again`: it may have been written before, and is looked for first.

        Returns: its id. Raises: ForgeError; with REFUSED nothing of it is written.
        """
        ...

    async def show_check(self, check: CommitCheck, known: str, *, is_again: bool) -> str:
        """Write how a check is, or write it anew: `known` is what this returned before.

        Returns: its id. Raises: ForgeError.
        """
        ...
