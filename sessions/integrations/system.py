"""What every outside system can be asked for in which people comment.

`sessions.integrations.systems` has an implementation for forges, and one for each issue tracker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from opencode_web.lib.json import JsonObject
from sessions.forges.adapter import Reaction, Thread
from sessions.forges.inbound import Heard


class System(Protocol):
    """An outside system as an integration is set up for it.

    What asks the system raises ForgeError, which says why and what to do.
    """

    @property
    def host(self) -> str:
        """Whose accounts people have there; empty where nothing is known of it."""
        ...

    @property
    def path(self) -> str:
        """What `Heard.repository` is for what concerns the project."""
        ...

    def is_signed(self, headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
        """Whether it comes from who knows the secret, and now. `headers` are in lower case."""
        ...

    def read(self, headers: Mapping[str, str], sent: JsonObject) -> tuple[str, Heard | None]:
        """Returns: its own name of what happened; and that, None for what nothing can be about.

        Raises: Invalid for what is not of the form that the system documents.
        """
        ...

    async def complete(self, heard: Heard) -> Heard:
        """Add what the delivery does not say. Raises: ForgeError."""
        ...

    async def may_write(self, heard: Heard) -> bool:
        """Whether its author is one of those who work there. Raises: ForgeError."""
        ...

    async def own_account(self) -> str:
        """Returns: the id of the credential's account, or nothing. Raises: ForgeError."""
        ...

    async def comment(self, thread: Thread, text: str, *, mark: str) -> str:
        """Write a comment, in Markdown. Returns: its id. Raises: ForgeError."""
        ...

    async def find_comment(self, thread: Thread, *, mark: str, since: datetime) -> str:
        """Find the comment that was written with a mark.

        Returns: its id, empty for none since then. Raises: ForgeError.
        """
        ...

    async def edit_comment(self, thread: Thread, comment: str, text: str, *, mark: str) -> bool:
        """Write another text in a comment.

        Returns: False where it is gone, and another one is to be written. Raises: ForgeError.
        """
        ...

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        """React to a comment, unless that was done before.

        Returns: the id of the reaction. Raises: ForgeError.
        """
        ...

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        """Take a reaction back: `made` is what `react` has returned. Raises: ForgeError."""
        ...


@dataclass(frozen=True)
class Found:
    """What an API key of an issue tracker leads to.

    `workspace` is its id and `host` its name, with that of the tracker. `path` is the key of the
    team whose issues are meant, and `name` what people call it. `account` is whose key it is.
    """

    workspace: str
    host: str
    path: str
    name: str
    account: str


class Tracker(System, Protocol):
    """An issue tracker. It is made of an API key and what that has been found to lead to."""

    async def probe(self, path: str) -> Found:
        """Ask whom the key is of, and for the team with a key.

        Raises: ForgeError; Invalid for a team that it does not see.
        """
        ...
