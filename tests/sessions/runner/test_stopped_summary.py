from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.git.snapshots import Snapshots
from sessions.models import Part, PermissionRequest, Project, SavedRule, Session
from sessions.runner import run_session
from sessions.runner.files import changes
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import stop, until

WRITE = {"tool": "write", "input": {"filePath": "a.txt", "content": "one\ntwo\n"}}
SLOW = {"tool": "bash", "input": {"command": "echo x > b.txt; echo started; sleep 30"}}
ADDED = {"file": "a.txt", "status": "added", "additions": 2, "deletions": 0}


@pytest.fixture(autouse=True)
def allowed(session: Session, project: Project) -> None:
    for permission in ("edit", "bash"):
        SavedRule.objects.create(
            project=project, permission=permission, pattern="*", created_at=session.created_at
        )


def shown(session: Session) -> list[dict[str, Any]]:
    diffs = session.messages.get(role="user").data["summary"]["diffs"]
    return [{key: diff[key] for key in ADDED} for diff in diffs]


async def test_a_turn_that_is_stopped_in_a_command_says_what_it_changed(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(prompt, alice, session, script([WRITE], [SLOW], [{"text": "not reached"}]))
    drain = asyncio.create_task(run_session(session.pk))
    written = Path(project.directory) / "b.txt"
    # The shell makes it before the command writes into it.
    await until(lambda: written.exists() and written.read_text())
    await stop(alice, session)
    await asyncio.wait_for(drain, 25)
    await in_db(session.refresh_from_db)
    assert session.outcome == "stopped"
    assert session.summary == {"additions": 3, "deletions": 0, "files": 2}
    added = {"file": "b.txt", "status": "added", "additions": 1, "deletions": 0}
    assert await in_db(shown, session) == [ADDED, added]
    # What the stopped step changed can be taken back like that of any other.
    patches = await in_db(list, Part.objects.filter(session=session, type="patch").order_by("seq"))
    assert [part.data["files"] for part in patches] == [["a.txt"], ["b.txt"]]


async def test_a_turn_that_is_stopped_while_it_waits_says_what_it_changed(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(SavedRule.objects.filter(permission="bash").delete)
    await in_db(prompt, alice, session, script([WRITE], [SLOW]))
    await run_session(session.pk)
    assert await in_db(PermissionRequest.objects.filter(status="pending").exists)
    await stop(alice, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert await in_db(shown, session) == [ADDED]
    assert session.summary == {"additions": 2, "deletions": 0, "files": 1}


async def test_a_turn_whose_provider_fails_says_what_it_changed(
    alice: User, session: Session
) -> None:
    fault = {"error": {"status": 401, "message": "no"}}
    await in_db(prompt, alice, session, script([WRITE], [fault]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "failed"
    assert await in_db(shown, session) == [ADDED]


async def test_a_turn_is_summed_up_once(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([WRITE], [{"text": "done"}]))
    await run_session(session.pk)
    await in_db(Session.objects.filter(pk=session.pk).update, state="busy")
    await stop(alice, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.summary == {"additions": 2, "deletions": 0, "files": 1}


async def test_a_stop_does_not_wait_for_a_slow_git(
    alice: User, session: Session, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> str:
        await asyncio.sleep(60)
        return ""

    await in_db(prompt, alice, session, script([SLOW]))
    drain = asyncio.create_task(run_session(session.pk))
    written = Path(project.directory) / "b.txt"
    # The shell makes it before the command writes into it.
    await until(lambda: written.exists() and written.read_text())
    monkeypatch.setattr(Snapshots, "track", never)
    monkeypatch.setattr(changes, "STOPPED_S", 0.1)
    await stop(alice, session)
    await asyncio.wait_for(drain, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome, session.summary) == ("idle", "stopped", {})
