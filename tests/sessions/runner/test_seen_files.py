from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.fork import fork_session
from sessions.actions.history import delete_part
from sessions.actions.rebuild import rebuild_session
from sessions.actions.revert import revert_session, unrevert_session
from sessions.actions.sessions import delete_session
from sessions.events.live import team_group
from sessions.models import Message, Part, Project, SavedRule, SeenFile, Session
from sessions.stream.hub import watch
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_subagents import calls_of, task, work

pytestmark = pytest.mark.any_database

READ = {"tool": "read", "input": {"filePath": "a.txt"}}
UNREAD, CHANGED = "has not been read in this session", "has changed since it was last read"


def edit(old: str, new: str) -> dict[str, Any]:
    return {"tool": "edit", "input": {"filePath": "a.txt", "oldString": old, "newString": new}}


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "input": {"command": command}}


@pytest.fixture
def file(session: Session, project: Project) -> Path:
    for permission in ("edit", "bash"):
        SavedRule.objects.create(
            project=project, permission=permission, pattern="*", created_at=session.created_at
        )
    path = Path(project.directory) / "a.txt"
    path.write_text("one two three\n")
    return path


async def say(user: User, session: Session, *steps: list[dict[str, Any]]) -> str:
    """Returns: what the newest call came to."""
    await in_db(prompt, user, session, script(*steps, [{"text": "done"}]))
    await work(session)
    newest = (await in_db(calls_of, session))[-1]
    return str(newest.get("error") or newest["output"])


async def test_a_file_has_to_be_read_and_that_survives_a_restart(
    alice: User, session: Session, file: Path
) -> None:
    assert UNREAD in await say(alice, session, [edit("one", "1")])
    await say(alice, session, [READ])
    # A later turn, in which nothing of the first one is in memory.
    assert "applied" in await say(alice, session, [edit("one", "1")])
    assert "applied" in await say(alice, session, [edit("1", "uno")])
    assert file.read_text() == "uno two three\n"


@pytest.mark.parametrize(
    "look",
    [
        bash("cat a.txt"),
        bash("sed -n 1,5p ./a.*"),
        bash("cd . && head -1 < /dev/null; tail a.txt"),
        bash("git init -q . && git add a.txt && echo new > a.txt && git diff"),
        {"tool": "grep", "input": {"pattern": "one"}},
        {"tool": "grep", "input": {"pattern": "one", "path": "a.txt"}},
    ],
)
async def test_a_file_that_any_call_has_shown_counts_as_read(
    alice: User, session: Session, file: Path, look: dict[str, Any]
) -> None:
    assert "successfully" in await say(
        alice, session, [look], [{"tool": "write", "input": {"filePath": "a.txt", "content": "x"}}]
    )
    assert file.read_text() == "x"


@pytest.mark.parametrize(
    "look",
    [
        bash("ls a.txt; wc -l a.txt"),
        bash("sed -i s/one/1/ a.txt"),
        bash("echo one > b.txt && cat b.txt"),
        {"tool": "grep", "input": {"pattern": "nothing of it"}},
        {"tool": "glob", "input": {"pattern": "*"}},
    ],
)
async def test_a_file_that_was_only_named_or_changed_does_not(
    alice: User, session: Session, file: Path, look: dict[str, Any]
) -> None:
    assert UNREAD in await say(alice, session, [look], [edit("two", "2")])


async def test_what_a_command_changed_has_to_be_read_again(
    alice: User, session: Session, file: Path
) -> None:
    change = [bash("echo more >> a.txt")]
    assert CHANGED in await say(alice, session, [READ], change, [edit("one", "1")])
    assert file.read_text() == "one two three\nmore\n"
    assert "applied" in await say(alice, session, [READ], [edit("one", "1")])
    # A command that leaves the same content has changed nothing.
    assert "applied" in await say(alice, session, [bash("touch a.txt")], [edit("two", "2")])


async def test_calls_of_one_answer_may_edit_one_file(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ], [edit("one", "1"), edit("two", "2"), edit("three", "3")])
    assert file.read_text() == "1 2 3\n"
    assert all(call["status"] == "completed" for call in await in_db(calls_of, session))


async def test_a_sub_agent_has_to_read_for_itself(
    alice: User, session: Session, file: Path
) -> None:
    inner = script([edit("one", "1")], [{"text": "tried"}])
    await say(alice, session, [READ], [task(inner)])
    child = await in_db(Session.objects.get, root=session)
    (call,) = await in_db(calls_of, child)
    assert UNREAD in call["error"]


async def test_what_was_read_goes_with_what_is_rolled_back(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ])
    await say(alice, session, [edit("one", "1")])
    prompts = await in_db(
        list, Message.objects.filter(session=session, role="user").order_by("seq")
    )
    access = await in_db(session_access, alice, session)
    # Without the edit the file is again what the session read before it.
    await in_db(revert_session, access, prompts[1].pk)
    assert "applied" in await say(alice, session, [edit("two", "2")])
    assert file.read_text() == "one 2 three\n"
    # Without the reading either.
    await in_db(revert_session, access, prompts[0].pk)
    assert UNREAD in await say(alice, session, [edit("two", "2")])


async def test_a_rollback_that_is_taken_back_forgets_nothing(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ], [edit("one", "1")])
    start = await in_db(Message.objects.filter(session=session).order_by("seq").first)
    assert start is not None
    access = await in_db(session_access, alice, session)
    await in_db(revert_session, access, start.pk)
    await work(session)
    await in_db(unrevert_session, access)
    await work(session)
    assert "applied" in await say(alice, session, [edit("two", "2")])


async def test_a_fork_knows_what_it_has_in_its_history(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ])
    await say(alice, session, [edit("one", "1")])
    second = await in_db(
        Message.objects.filter(session=session, role="user").order_by("-seq").first
    )
    assert second is not None
    access = await in_db(session_access, alice, session)
    whole = await in_db(fork_session, access)
    early = await in_db(fork_session, access, before=second.pk)
    assert CHANGED in await say(alice, early, [edit("two", "2")])
    assert "applied" in await say(alice, whole, [edit("two", "2")])
    # They are sessions of their own from there on.
    assert CHANGED in await say(alice, session, [edit("three", "3")])


async def test_a_part_that_is_deleted_takes_its_reading_along(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ])
    part = await in_db(Part.objects.get, session=session, type="tool")
    access = await in_db(session_access, alice, session)
    await in_db(delete_part, access, part.message_id, part.pk)
    assert UNREAD in await say(alice, session, [edit("two", "2")])


async def test_it_survives_a_rebuild_and_ends_with_its_session(
    alice: User, session: Session, file: Path
) -> None:
    await say(alice, session, [READ])
    await in_db(rebuild_session, session.pk, write=True)
    assert "applied" in await say(alice, session, [edit("two", "2")])
    rows = await in_db(list, SeenFile.objects.filter(session=session))
    assert len(rows) == 2
    # Neither names nor contents are kept.
    assert "a.txt" not in json.dumps([[row.path_digest, row.digest] for row in rows])
    await in_db(delete_session, await in_db(session_access, alice, session))
    assert await in_db(SeenFile.objects.count) == 0


async def test_clients_hear_of_each_file_once_it_is_written(
    alice: User, session: Session, project: Project, file: Path
) -> None:
    heard = []
    async with watch(team_group(project.team_id), session=session.pk) as bodies:
        await in_db(prompt, alice, session, script([READ], [edit("one", "1")], [{"text": "done"}]))
        await drain(session)
        while not any(body["t"] == "edited" for body in heard):
            heard += await asyncio.wait_for(bodies.take(), 25)
    (body,) = [body for body in heard if body["t"] == "edited"]
    assert body["files"] == {str(file): "change"}
    assert (body["session"], body["team"]) == (session.pk, project.team_id)
