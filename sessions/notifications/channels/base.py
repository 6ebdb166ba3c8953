"""The shape of a channel, of what it sends, and of how that ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from django.utils.functional import Promise

from sessions.models import NotificationKind, PushSubscription
from teams.auth import Principal, authenticate_for
from teams.models import Team, User


@dataclass(frozen=True)
class Line:
    """One thing that happened, such as "Needs you", the title of a session and its path."""

    what: str
    subject: str
    path: str
    kind: NotificationKind
    team: Team
    # None for what is of the whole team.
    session_id: str | None = None

    @property
    def text(self) -> str:
        return f"{self.what}: {self.subject}"


@dataclass(frozen=True)
class Message:
    """In the person's language, as text and not as markup.

    It must have nothing of a conversation but titles: others may see a locked screen. `path` is
    where it leads, as routes give it. A newer message takes the place of one with the same `tag`.
    """

    lines: tuple[Line, ...]
    # Of several lines; empty for one.
    title: str
    path: str
    tag: str
    # The same whenever it is tried again.
    id: str
    is_urgent: bool = False


@dataclass(frozen=True)
class Result:
    """How an attempt ended. No `problem`: it was sent.

    `is_final`: another attempt would not help. `wait_s`: how long at least to wait before it.
    """

    problem: str = ""
    is_final: bool = False
    wait_s: int = 0


class Channel(Protocol):
    """One way to reach a person."""

    # In rows, forms and preferences; never changed.
    name: str
    # What it brings as long as the person has not decided.
    usual_kinds: frozenset[NotificationKind]

    @property
    def label(self) -> str | Promise: ...

    def unavailable(self, user: User) -> str:
        """Returns: why it cannot reach the person and what to do, in words; empty if it can."""

    def devices(self, user: User) -> list[PushSubscription | None]:
        """Returns: what gets a message of its own each; [None] where there is one address."""

    def principal(
        self, user: User, device: PushSubscription | None, team: Team
    ) -> Principal | None:
        """Returns: as whom the person is judged, None where they may get nothing any more."""

    async def send(self, user: User, device: PushSubscription | None, message: Message) -> Result:
        """Must not raise for what the other side does: that is a problem of the result."""


class OneAddress:
    """The part of a channel with one address for each person, who is judged by their account."""

    def devices(self, user: User) -> list[PushSubscription | None]:
        return [None]

    def principal(
        self, user: User, device: PushSubscription | None, team: Team
    ) -> Principal | None:
        return authenticate_for(user, team)
