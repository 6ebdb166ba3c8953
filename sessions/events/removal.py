"""What takes history away: a rollback, which can be taken back, and removal, which cannot."""

from __future__ import annotations

from typing import Literal

from opencode_web.lib.json import JsonObject
from sessions.events.messages import Frozen


class RestoredFile(Frozen):
    """What was done with a file: modified, added (it came back) or deleted (it was new).

    `meanwhile`: somebody else had changed it since; that state is in the snapshot.
    """

    file: str
    status: Literal["added", "modified", "deleted"]
    additions: int = 0
    deletions: int = 0
    meanwhile: bool = False


class KeptFile(Frozen):
    """A file that stays as it is. `reason` ends a sentence about it."""

    file: str
    reason: str


class Restored(Frozen):
    """The worktree before and after files went back, and the list for people.

    Both are empty when nothing was done; `cause` says why, and `note` in logs of version 1. `after`
    differs from `snapshot` in what was done and in nothing else. `total` counts files, of which
    `files` may be the first only.
    """

    snapshot: str = ""
    after: str = ""
    total: int = 0
    files: list[RestoredFile] = []
    kept: list[KeptFile] = []
    cause: JsonObject | None = None
    note: str = ""


class Revert(Frozen):
    """The message, or the part of it, from which on everything is rolled back.

    `snapshot` is the worktree before the rollback and `diff` what it changed in the files; both are
    absent when it changed none.
    Source: `Session.revert` of OpenCode's HTTP API.
    """

    messageID: str
    partID: str | None = None
    snapshot: str | None = None
    diff: str | None = None


class Rollback(Revert):
    """`restored` is what was done with files, when the rollback may have to do with any."""

    restored: Restored | None = None


class SessionReverted(Frozen):
    """History is hidden from the sequence number `hidden_from` on. None brings all of it back.

    `kept` are files that did not come back with it.
    """

    type: Literal["session.reverted"] = "session.reverted"
    revert: Rollback | None = None
    hidden_from: int | None = None
    by_id: int | None = None
    kept: list[KeptFile] | None = None


class FileReverted(Frozen):
    """One file has gone back to its state before the turn of the prompt `scope`; to that of the
    last commit when there is none.

    It can be undone until the next prompt. `undone`: that has happened. `partly`: other lines of it
    are still changed.
    """

    type: Literal["file.reverted"] = "file.reverted"
    scope: str
    file: str
    restored: Restored
    undone: bool = False
    partly: bool | None = None
    by_id: int | None = None


class MessageRemoved(Frozen):
    """The message with its parts is gone."""

    type: Literal["message.removed"] = "message.removed"
    message_id: str
    by_id: int | None = None
