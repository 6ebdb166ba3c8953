"""What takes history away: a rollback, which can be taken back, and removal, which cannot."""

from __future__ import annotations

from typing import Literal

from sessions.events.messages import Frozen


class Revert(Frozen):
    """The message, or the part of it, from which on everything is rolled back.

    `snapshot` is the worktree before the rollback and `diff` what it changed in the files; both are
    absent while only messages are rolled back.
    Source: `Session.revert` of OpenCode's HTTP API.
    """

    messageID: str
    partID: str | None = None
    snapshot: str | None = None
    diff: str | None = None


class SessionReverted(Frozen):
    """History is hidden from the sequence number `hidden_from` on. None brings all of it back."""

    type: Literal["session.reverted"] = "session.reverted"
    revert: Revert | None = None
    hidden_from: int | None = None
    by_id: int | None = None


class MessageRemoved(Frozen):
    """The message with its parts is gone."""

    type: Literal["message.removed"] = "message.removed"
    message_id: str
    by_id: int | None = None
