from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from opencode_web.lib.db import in_db
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.rest import SessionBusy
from sessions.actions.revert import (
    revert_file,
    revert_session,
    undo_file_revert,
    unrevert_session,
)
from sessions.git.snapshots import SnapshotError, Snapshots
from sessions.models import Message, Project, SavedRule, Session, SessionInput
from sessions.runner import run_session
from sessions.runner.files import restore_files
from teams.models import User
from tests.sessions.factories import INLINE, prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of
from tools.sandbox.select import SandboxReport

pytestmark = pytest.mark.any_database


@pytest.fixture(autouse=True)
def allowed(session: Session, project: Project) -> None:
    for permission in ("edit", "bash"):
        SavedRule.objects.create(
            project=project, permission=permission, pattern="*", created_at=session.created_at
        )


@pytest.fixture
def root(project: Project) -> Path:
    return Path(project.directory)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "input": {"command": command}}


def turn(*steps: list[dict[str, Any]]) -> str:
    return script(
        *steps,
        [{"text": "done"}],
        turns=[[{"events": one} for one in (*steps, [{"text": "done"}])]],
    )


def tree_of(root: Path) -> dict[str, tuple[str, bytes]]:
    found = {}
    for folder, names, files in os.walk(root):
        if ".git" in names:
            names.remove(".git")
        for name in [*files, *(n for n in names if (Path(folder) / n).is_symlink())]:
            path = Path(folder) / name
            if path.is_symlink():
                found[str(path.relative_to(root))] = ("link", os.fsencode(path.readlink()))
            else:
                executable = "exe" if path.stat().st_mode & 0o100 else "file"
                found[str(path.relative_to(root))] = (executable, path.read_bytes())
    return found


async def play(alice: User, session: Session, *commands: str) -> SessionInput:
    row = await in_db(prompt, alice, session, turn(*([bash(command)] for command in commands)))
    await run_session(session.pk)
    return row


def _revert(alice: User, session: Session, message_id: str) -> Session:
    return revert_session(session_access(alice, session), message_id)


def _unrevert(alice: User, session: Session) -> Session:
    return unrevert_session(session_access(alice, session))


async def roll_back(alice: User, session: Session, message_id: str) -> Session:
    changed = await in_db(_revert, alice, session, message_id)
    assert changed.state == "busy"
    return await drain(session)


async def restore(alice: User, session: Session) -> Session:
    await in_db(_unrevert, alice, session)
    return await drain(session)


async def test_files_go_back_with_the_messages_and_come_back_with_them(
    alice: User, session: Session, root: Path
) -> None:
    (root / "kept").write_text("1\n")
    (root / "gone").write_text("2\n")
    (root / "turned").write_text("3\n")
    first = tree_of(root)
    one = await play(alice, session, "echo more >>kept; rm gone; mkdir d; echo n >'d/new file'")
    second = tree_of(root)
    two = await play(
        alice, session, "chmod +x kept; rm turned; ln -s kept turned", "echo 5 >gone; rm -r d"
    )
    third = tree_of(root)
    await drain(session)
    # Three, and one more: both turns have changed the same ones.
    assert session.summary["files"] == 4

    await roll_back(alice, session, two.pk)
    assert tree_of(root) == second
    assert (session.state, session.outcome, session.summary["files"]) == ("idle", "done", 3)
    listed = {one["file"]: one["status"] for one in session.revert["restored"]["files"]}
    assert listed == {
        "kept": "modified",
        "turned": "modified",
        "gone": "deleted",
        "d/new file": "added",
    }
    assert session.revert["messageID"] == two.pk
    assert "+++ b/d/new file" in session.revert["diff"]

    await roll_back(alice, session, one.pk)
    assert tree_of(root) == first
    assert session.summary["files"] == 0
    await roll_back(alice, session, two.pk)
    assert tree_of(root) == second

    await restore(alice, session)
    assert tree_of(root) == third
    assert (session.revert, session.hidden_from, session.summary["files"]) == ({}, None, 4)


async def test_what_others_changed_is_in_the_snapshot_and_comes_back(
    alice: User, session: Session, root: Path
) -> None:
    row = await play(alice, session, "echo agent >a; echo agent >b; mkdir -p x/y; echo 1 >x/y/z")
    (root / "a").write_text("somebody\n")
    (root / "theirs").write_text("not of the session\n")
    (root / "x" / "note").write_text("in its folder\n")
    before = tree_of(root)
    await roll_back(alice, session, row.pk)
    assert set(tree_of(root)) == {"theirs", "x/note"}
    files = session.revert["restored"]["files"]
    assert [(one["file"], one["meanwhile"]) for one in files] == [
        ("a", True),
        ("b", False),
        ("x/y/z", False),
    ]
    assert not (root / "x" / "y").exists()
    await restore(alice, session)
    assert tree_of(root) == before


async def test_what_changes_after_the_rollback_stays(
    alice: User, session: Session, root: Path
) -> None:
    (root / "a").write_text("first\n")
    row = await play(alice, session, "echo agent >a; echo agent >b")
    await roll_back(alice, session, row.pk)
    (root / "a").write_text("by hand\n")
    await restore(alice, session)
    assert (root / "a").read_text() == "by hand\n"
    assert (root / "b").read_text() == "agent\n"
    assert session.outcome_reason == {
        "reason": "files_kept",
        "values": {"names": "a", "reason": "somebody has changed it since"},
    }


async def test_a_file_that_no_snapshot_has_is_never_replaced(
    alice: User, session: Session, root: Path
) -> None:
    (root / "a").write_text("small\n")
    row = await play(alice, session, "rm a")
    (root / "a").write_bytes(b"x" * 3_000_000)
    await roll_back(alice, session, row.pk)
    assert (root / "a").stat().st_size == 3_000_000
    kept = session.revert["restored"]["kept"]
    assert kept == [{"file": "a", "reason": "somebody has changed it in the meantime"}]


async def test_a_large_new_file_stays_and_is_said_with_the_turn_and_the_rollback(
    alice: User, session: Session, root: Path
) -> None:
    row = await play(alice, session, "head -c 3145728 /dev/zero >data.bin")
    said = "Over 2 MB, so not kept and not rolled back: data.bin (3.0 MB)."
    prompt = await in_db(session.messages.get, pk=row.pk)
    values = {"limit": 2, "names": "data.bin (3.0 MB)"}
    cause = {"reason": "files_left_out", "values": values}
    assert prompt.data["summary"] == {"diffs": [], "body": said, "cause": cause}
    two = await play(alice, session, "head -c 4194304 /dev/zero >more.bin; echo 1 >a")
    await roll_back(alice, session, two.pk)
    assert (root / "more.bin").exists()
    assert not (root / "a").exists()
    assert session.revert["restored"]["cause"]["values"]["names"].endswith("more.bin (4.0 MB)")


async def test_a_link_in_the_way_is_not_followed(
    alice: User, session: Session, root: Path, tmp_path: Path
) -> None:
    (root / "d").mkdir()
    (root / "d" / "f").write_text("1\n")
    row = await play(alice, session, "echo 2 >d/f")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("2\n")
    (root / "d" / "f").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(outside)
    await roll_back(alice, session, row.pk)
    assert (outside / "f").read_text() == "2\n"
    assert session.revert["restored"]["kept"][0]["file"] == "d/f"


async def test_the_repository_of_the_user_is_not_touched(
    alice: User, session: Session, root: Path
) -> None:
    commands = (
        "git config user.email a@b; git config user.name a; echo 1 >a; git add a; git commit -qm 1;"
        "echo '* text eol=crlf filter=evil' >.gitattributes;"
        "git config filter.evil.smudge 'touch ran; cat'; cd .git/hooks;"
        "printf '#!/bin/sh\\ntouch ran\\n' >post-checkout; chmod +x post-checkout"
    )
    subprocess.run(["/bin/sh", "-ec", commands], cwd=root, check=True)
    row = await play(alice, session, "echo 2 >>a; echo 3 >b")

    def git_files() -> dict[str, bytes]:
        files = (path for path in (root / ".git").rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    before = git_files()
    await roll_back(alice, session, row.pk)
    assert (root / "a").read_bytes() == b"1\n"
    assert git_files() == before
    assert not (root / "ran").exists()


async def test_nothing_else_happens_meanwhile(alice: User, session: Session, root: Path) -> None:
    row = await play(alice, session, "echo 1 >a")
    await in_db(_revert, alice, session, row.pk)
    for act in (_revert, _unrevert):
        with pytest.raises(SessionBusy):
            await in_db(act, alice, session, *([row.pk] if act is _revert else []))
    await in_db(prompt, alice, session, turn([bash("echo 2 >b")]))
    await drain(session)  # the prompt waited, and makes the rollback final
    await drain(session)
    assert set(tree_of(root)) == {"b"}
    assert session.revert == {}
    assert not await in_db(Message.objects.filter(pk=row.pk).exists)


async def test_a_held_prompt_stays_held(alice: User, session: Session, root: Path) -> None:
    def hold() -> None:
        draft = PromptDraft(parts=[{"type": "text", "text": "later"}], model=INLINE)
        admit_prompt(session_access(alice, session), draft, resume=False)

    row = await play(alice, session, "echo 1 >a")
    await in_db(hold)
    await roll_back(alice, session, row.pk)
    assert session.state == "idle"
    assert await in_db(session.inputs.filter(status="admitted").count) == 1


async def test_a_worker_that_died_over_it_is_followed_by_another(
    alice: User, session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("1\n")
    row = await play(alice, session, "echo 2 >a; echo 2 >b; echo 2 >c")
    await in_db(_revert, alice, session, row.pk)
    put, calls = restore_files.put_back, 0

    def dies(*given: Any) -> dict[bytes, str]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise asyncio.CancelledError
        return put(*given)

    monkeypatch.setattr(restore_files, "put_back", dies)
    await drain(session)
    assert session.state == "busy"
    await drain(session)
    assert tree_of(root) == {"a": ("file", b"1\n")}
    await restore(alice, session)
    assert tree_of(root) == dict.fromkeys("abc", ("file", b"2\n"))


async def test_snapshots_that_are_gone_leave_the_files_and_say_so(
    alice: User, session: Session, root: Path, settings: Settings
) -> None:
    (root / "kept").write_text("in the first snapshot")
    row = await play(alice, session, "echo 1 >a")
    tree = (await in_db(parts_of, session, "step-start"))[0]["snapshot"]
    objects = settings.DATA_DIR / "snapshots" / session.project_id / "objects"
    (objects / tree[:2] / tree[2:]).unlink()
    await roll_back(alice, session, row.pk)
    assert (root / "a").exists()
    assert session.revert["restored"]["cause"]["reason"] == "snapshots_gone"
    assert session.hidden_from is not None
    await restore(alice, session)
    assert (session.hidden_from, session.outcome) == (None, "done")


async def test_without_a_sandbox_messages_go_back_and_it_is_said_that_files_do_not(
    alice: User, session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await play(alice, session, "echo 1 >a")
    report = SandboxReport(False, "none", "no bubblewrap here", "")
    monkeypatch.setattr("sessions.git.box.probe", lambda: report)
    await roll_back(alice, session, row.pk)
    assert (root / "a").exists()
    assert session.revert["restored"]["cause"] == {
        "reason": "snapshots_off",
        "values": {"reason": "no bubblewrap here"},
    }


async def test_a_fault_of_git_changes_nothing_and_is_told(
    alice: User, session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await play(alice, session, "echo 1 >a")

    async def full(*_: object, **__: object) -> str:
        raise SnapshotError("the disk is full")

    monkeypatch.setattr(Snapshots, "track", full)
    await roll_back(alice, session, row.pk)
    assert (root / "a").exists()
    assert (session.hidden_from, session.outcome) == (None, "failed")
    assert session.outcome_reason == {
        "reason": "restore_failed",
        "values": {"reason": "the disk is full"},
    }


async def test_one_file_goes_back_and_comes_back(alice: User, session: Session, root: Path) -> None:
    (root / "a").write_text("0\n")
    one = await play(alice, session, "echo 1 >>a; echo 1 >b")
    await play(alice, session, "echo 2 >>a")

    def take_back(file: str) -> None:
        revert_file(session_access(alice, session), one.pk, file)

    await in_db(take_back, "a")
    await drain(session)
    assert ((root / "a").read_text(), (root / "b").read_text()) == ("0\n", "1\n")
    assert [(one["file"], one["scope"]) for one in session.file_reverts] == [("a", one.pk)]
    assert session.hidden_from is None

    await in_db(lambda: undo_file_revert(session_access(alice, session), "a"))
    await drain(session)
    assert (root / "a").read_text() == "0\n1\n2\n"
    assert session.file_reverts == []

    await in_db(take_back, "b")
    await drain(session)
    assert not (root / "b").exists()
    await play(alice, session, "echo 3 >c")
    await in_db(session.refresh_from_db)
    assert session.file_reverts == []


async def test_a_sub_agents_changes_go_back_with_the_turn_that_called_it(
    alice: User, session: Session, root: Path
) -> None:
    task = {
        "tool": "task",
        "input": {
            "description": "write",
            "prompt": turn([bash("echo child >made")]),
            "subagent_type": "general",
        },
    }
    row = await in_db(prompt, alice, session, turn([task]))
    await drain(session)
    child = await in_db(session.children.get)
    await drain(child)
    await drain(session)
    assert (root / "made").read_text() == "child\n"
    await roll_back(alice, session, row.pk)
    assert not (root / "made").exists()
