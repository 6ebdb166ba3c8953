from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

import pytest
from django.db import OperationalError

from opencode_web.lib.db import in_db
from opencode_web.lib.disk import DISK_FULL
from opencode_web.lib.reasons import english
from sessions.git.box import BoxedGitError
from sessions.git.snapshots import SnapshotError, Snapshots
from sessions.models import SavedRule, Session, SessionInput
from sessions.runner.drain import advance, coordinator
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

WRITE = {"tool": "write", "input": {"filePath": "a.txt", "content": "some text"}}


@pytest.fixture(autouse=True)
def may_edit(session: Session) -> None:
    SavedRule.objects.create(
        project_id=session.project_id,
        permission="edit",
        pattern="*",
        created_at=session.created_at,
    )


@pytest.fixture
def worktree(session: Session) -> Path:
    return Path(session.worktree)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Whatever is written to a file goes to the device that is always full."""
    fdopen = os.fdopen

    def to_full(fd: int, mode: str = "r", *more: Any, **named: Any) -> IO[Any]:
        if "w" not in mode:
            return fdopen(fd, mode, *more, **named)
        os.close(fd)
        return Path("/dev/full").open(mode)

    monkeypatch.setattr(os, "fdopen", to_full)
    return monkeypatch


async def test_a_tool_that_finds_the_disk_full_ends_the_turn_with_that_reason(
    alice: User, session: Session, worktree: Path, full_disk: pytest.MonkeyPatch
) -> None:
    await in_db(prompt, alice, session, script([WRITE], [{"text": "went on"}]))
    await drain(session)
    (call,) = await in_db(parts_of, session, "tool")
    assert call["state"]["error"] == english(DISK_FULL)
    assert await in_db(parts_of, session, "text") == []
    assert (session.state, session.outcome_reason["reason"]) == ("idle", "disk_full")
    # Nothing half-written is left.
    assert [path.name for path in worktree.iterdir()] == [".git"]
    full_disk.undo()
    await in_db(prompt, alice, session, script([WRITE], [{"text": "went on"}]))
    await drain(session)
    assert (worktree / "a.txt").read_text() == "some text"
    assert session.outcome == "done"


async def test_nothing_is_changed_that_no_snapshot_could_be_taken_of(
    alice: User, session: Session, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def track(self: Snapshots) -> str:
        said = "error: unable to write sha1 file: No space left on device"
        raise SnapshotError(said) from BoxedGitError(said)

    monkeypatch.setattr(Snapshots, "track", track)
    await in_db(prompt, alice, session, script([WRITE], [{"text": "went on"}]))
    await drain(session)
    assert session.outcome_reason["reason"] == "disk_full"
    assert not (worktree / "a.txt").exists()


async def test_a_database_without_room_ends_the_turn_when_it_can_write_that(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter(range(2))
    append, fail_drain = advance.append, coordinator.fail_drain

    def full(*_: object) -> None:
        raise OperationalError("database or disk is full")

    def fail_later(*arguments: Any) -> None:
        if next(failures, None) is not None:
            full()
        # Somebody has made room.
        monkeypatch.setattr(advance, "append", append)
        fail_drain(*arguments)

    await in_db(prompt, alice, session, script([{"text": "first"}]))
    await in_db(prompt, alice, session, script([{"text": "second"}]), delivery="queue")
    monkeypatch.setattr(coordinator, "_DATABASE_RETRIES_S", (0, 0, 0, 0))
    monkeypatch.setattr(advance, "append", full)
    monkeypatch.setattr(coordinator, "fail_drain", fail_later)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert session.outcome_reason["reason"] == "disk_full"
    waiting = SessionInput.objects.filter(session=session, status=SessionInput.Status.ADMITTED)
    assert await in_db(waiting.count) == 1
