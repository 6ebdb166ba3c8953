"""What somebody has asked to be done with the files of a session at rest.

It stands in the row of the session's lease until it is done: a worker that dies over it is followed
by another one, which begins again with the same snapshot.
"""

from __future__ import annotations

from typing import Literal

from opencode_web.lib.json import JsonObject
from sessions.events.messages import Frozen, Ms
from sessions.models import Run, Session, State


class RestoreRequest(Frozen):
    """`kind` revert and unrevert go with a rollback of messages; the others are about one file,
    which goes back to before a turn, or to the last commit (head), or is brought back (undo).

    `scope` is the prompt of the turn before which a file's state is wanted. `outcome`, `cause` and
    `detail` are how the newest turn had ended. `snapshot` is the worktree before anything was
    changed, as soon as it is taken. `at` is when it was asked, `seq` the newest event before.
    """

    kind: Literal["revert", "unrevert", "file", "head", "undo"]
    at: Ms
    seq: int
    by_id: int
    message_id: str = ""
    part_id: str | None = None
    from_seq: int = 0
    scope: str = ""
    file: str = ""
    # What it was called in the last commit or before the turn, when it was renamed since.
    old: str = ""
    # Only these lines of it: the range of a hunk. `looked`: the stamp of the file they are in.
    hunk: tuple[int, int, int, int] | None = None
    looked: str = ""
    outcome: Literal["", "done", "stopped", "failed", "interrupted"] = ""
    cause: JsonObject = {}
    detail: str = ""
    snapshot: str = ""
    tries: int = 0


def read_request(session: Session) -> RestoreRequest | None:
    """Returns: what is to be done with the files of a locked session, None when nothing is."""
    stored = session.run.restore
    return RestoreRequest.model_validate(stored) if stored else None


def is_restoring(session: Session) -> bool:
    """Whether a busy session puts files back, and no agent works."""
    waiting = Run.objects.filter(session=session).exclude(restore={})
    return session.state == State.BUSY and waiting.exists()


def write_request(session: Session, request: RestoreRequest | None) -> None:
    """Must run in a transaction that has locked the session."""
    session.run.restore = request.to_json() if request else {}
    session.run.save(update_fields=["restore"])
