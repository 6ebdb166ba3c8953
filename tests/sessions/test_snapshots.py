from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import time
import tracemalloc
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.git import snapshots as module
from sessions.git.box import Box, Start
from sessions.git.snapshot_diffs import MAX_PATCH_CHARS, Changes, FileChange, Names
from sessions.git.snapshot_files import MAX_NEW_FILE_BYTES
from sessions.git.snapshots import SnapshotError, Snapshots, SnapshotsOff
from sessions.models import Project, Session
from sessions.runner.files.changes import changed_files, take_snapshot
from tools.sandbox.select import SandboxReport

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture
def worktree(project: Project) -> Path:
    return Path(project.directory)


@pytest.fixture
def snapshots(session: Session, tmp_path: Path, settings: Settings) -> Snapshots:
    settings.DATA_DIR = tmp_path / "data"
    return Snapshots(session)


def run(script: str, *, cwd: Path) -> None:
    subprocess.run(["/bin/sh", "-ec", script], cwd=cwd, check=True, capture_output=True)


def changed(found: list[FileChange]) -> list[tuple[str, str, int, int]]:
    return [(item.file, item.status, item.additions, item.deletions) for item in found]


async def tracked(snapshots: Snapshots, tree: str) -> list[str]:
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    return (await snapshots.changed_files(empty, tree)).names


async def test_it_tells_what_changed(snapshots: Snapshots, worktree: Path) -> None:
    run("printf 'a\\nb\\n' >kept; echo x >gone; echo t >turned; mkdir d; echo i >d/é", cwd=worktree)
    run("echo skip >.gitignore; echo s >skip; printf '\\0' >bin; echo e >exe", cwd=worktree)
    before = await snapshots.track()
    run("printf 'a\\nc\\nd\\n' >kept; rm gone; ln -sf kept turned; echo n >new", cwd=worktree)
    run("rm -r d; echo f >d; echo t >skip; printf '\\0\\0' >bin; chmod +x exe", cwd=worktree)
    after = await snapshots.track()
    found = (await snapshots.changes(before, after)).files
    assert changed(found) == [
        ("bin", "modified", 0, 0),
        ("d", "added", 1, 0),
        ("d/é", "deleted", 0, 1),
        ("exe", "modified", 0, 0),
        ("gone", "deleted", 0, 1),
        ("kept", "modified", 2, 1),
        ("new", "added", 1, 0),
        ("turned", "modified", 1, 1),
    ]
    patches = {item.file: item.patch for item in found}
    assert patches["kept"].endswith("@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
    assert patches["bin"] == ""
    assert patches["turned"].count("diff --git") == 2
    assert await snapshots.track() == after
    assert await changed_files(snapshots, before, after) == Names([item.file for item in found])
    assert await snapshots.changes(after, after) == Changes([])


async def test_a_file_that_becomes_a_folder_or_a_link_to_one(
    snapshots: Snapshots, worktree: Path, tmp_path: Path
) -> None:
    run("echo 1 >a; mkdir b c; echo 2 >b/x; echo 3 >c/y", cwd=worktree)
    await snapshots.track()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "y").write_text("secret of the host")
    run(f"rm a; mkdir a; echo 4 >a/z; rm -r b; ln -s c b; rm -r c; ln -s {outside} c", cwd=worktree)
    tree = await snapshots.track()
    assert await tracked(snapshots, tree) == ["a/z", "b", "c"]
    found = await snapshots.changes("4b825dc642cb6eb9a060e54bf8d69288fbee4904", tree)
    assert "secret of the host" not in str(found)


# What a command in the sandbox can leave: a repository of its own with programs in its config.
NESTED = """
mkdir sub && cd sub && git init -q . && echo x >f && echo '* filter=evil diff=evil' >.gitattributes
git add . && git -c user.name=a -c user.email=a@b commit -qm 1
git config filter.evil.clean 'touch {ran}; cat' && git config filter.evil.process 'touch {ran}'
git config core.fsmonitor 'touch {ran}' && git config diff.evil.command 'touch {ran}'
git config diff.evil.textconv 'touch {ran}; cat'
git config extensions.partialClone origin && git config core.repositoryFormatVersion 1
git config remote.origin.promisor true && git config remote.origin.url 'ext::sh -c touch% {ran}'
git config protocol.ext.allow always
"""


def unboxed(box: Box, *arguments: str) -> Start:
    return Start(("git", *arguments))


@pytest.mark.parametrize("sandboxed", [True, False])
async def test_a_nested_repository_starts_no_program(
    snapshots: Snapshots,
    worktree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sandboxed: bool,
) -> None:
    if not sandboxed:  # the second wall alone: nothing may be met that starts a program
        monkeypatch.setattr(Box, "start", unboxed)
    ran = tmp_path / "ran"
    run(NESTED.format(ran=ran), cwd=worktree)
    run("echo '* filter=evil diff=evil' >.gitattributes; echo y >own", cwd=worktree)
    before = await snapshots.track()
    time.sleep(0.01)
    run("echo y >>f; touch .gitattributes; echo z >>../own; rm -f ../../ran", cwd=worktree / "sub")
    after = await snapshots.track()
    assert (await snapshots.changed_files(before, after)).names == ["own"]
    assert not ran.exists()


async def test_a_gitlink_that_is_in_the_index_already_is_taken_out_unopened(
    snapshots: Snapshots, worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Box, "start", unboxed)
    await snapshots.track()
    ran = tmp_path / "ran"
    run(NESTED.format(ran=ran), cwd=worktree)
    await snapshots._ask("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    run("echo y >>f; rm -f ../../ran", cwd=worktree / "sub")
    tree = await snapshots.track()
    assert await tracked(snapshots, tree) == []
    assert not ran.exists()


async def test_git_sees_nothing_else_of_the_host(
    snapshots: Snapshots, worktree: Path, tmp_path: Path, settings: Settings
) -> None:
    await snapshots.track()
    (settings.DATA_DIR / "secret_key").write_text("very-secret")
    leak = f"!cat {settings.DATA_DIR}/secret_key; ls /proc /etc; env; touch {worktree}/made; :"
    told = await snapshots._ask("-c", f"alias.leak={leak}", "leak")
    assert b"very-secret" not in told
    assert b"passwd" not in told
    assert b"SECRET_KEY" not in told
    assert not (worktree / "made").exists()


async def test_a_repository_without_a_commit_is_passed_over(
    snapshots: Snapshots, worktree: Path
) -> None:
    run("git init -q x; echo 1 >x/f; echo 2 >own; mkfifo pipe", cwd=worktree)
    assert await tracked(snapshots, await snapshots.track()) == ["own"]


async def test_a_file_that_git_cannot_read_is_passed_over(
    snapshots: Snapshots, worktree: Path
) -> None:
    run("echo 1 >closed; chmod 000 closed; echo 2 >own", cwd=worktree)
    assert await tracked(snapshots, await snapshots.track()) == ["own"]


async def test_attributes_of_the_worktree_cannot_make_it_fail(
    snapshots: Snapshots, worktree: Path
) -> None:
    run(
        "echo '* working-tree-encoding=none text eol=crlf' >.gitattributes; echo 2 >own",
        cwd=worktree,
    )
    assert await tracked(snapshots, await snapshots.track()) == [".gitattributes", "own"]


async def test_a_lock_that_a_killed_git_left_is_taken_away(
    snapshots: Snapshots, worktree: Path
) -> None:
    await snapshots.track()
    lock = Path(f"{snapshots._index}.lock")
    lock.touch()
    (worktree / "own").write_text("1")
    assert await tracked(snapshots, await snapshots.track()) == ["own"]
    assert not lock.exists()


async def test_a_stop_in_between_leaves_no_lock_and_no_process(
    snapshots: Snapshots, worktree: Path
) -> None:
    for n in range(600):
        (worktree / f"f{n}").write_text(str(n))
    await snapshots.track()
    for n in range(600):
        (worktree / f"f{n}").write_text(f"{n} again")
    lock = Path(f"{snapshots._index}.lock")
    task = asyncio.create_task(snapshots.track())
    while not lock.exists() and not task.done():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not lock.exists()
    listed = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if str(snapshots._git_dir) in line]
    assert len(await tracked(snapshots, await snapshots.track())) == 600


async def test_large_files(snapshots: Snapshots, worktree: Path) -> None:
    (worktree / "grown").write_text("small\n")
    (worktree / "large").write_bytes(b"x" * (MAX_NEW_FILE_BYTES + 1))
    before = await snapshots.track()
    assert await tracked(snapshots, before) == ["grown"]
    (worktree / "grown").write_text("line\n" * 5_000_000)
    (worktree / "other").write_text("1\n")
    after = await snapshots.track()
    tracemalloc.start()
    found = (await snapshots.changes(before, after)).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert changed(found) == [("grown", "modified", 0, 0), ("other", "added", 1, 0)]
    assert [bool(item.patch) for item in found] == [False, True]
    assert peak < 8 * 1024 * 1024


async def test_a_large_new_file_is_left_out_and_said(snapshots: Snapshots, worktree: Path) -> None:
    (worktree / "old").write_bytes(b"x" * (MAX_NEW_FILE_BYTES + 1))
    os.utime(worktree / "old", (1, 1))
    await snapshots.track()
    assert [one.file for one in await snapshots.left_out(0)] == ["old"]
    time.sleep(0.01)
    since = time.time_ns() // 1_000_000
    (worktree / "größer").write_bytes(b"x" * (MAX_NEW_FILE_BYTES + 2))
    await snapshots.track()
    found = await snapshots.left_out(since)
    assert [(one.file, one.size_bytes) for one in found] == [("größer", MAX_NEW_FILE_BYTES + 2)]
    (worktree / "größer").unlink()
    (worktree / "old").unlink()
    await snapshots.track()
    assert await snapshots.left_out(0) == []


async def test_the_patches_of_a_turn_are_read_up_to_a_limit(
    snapshots: Snapshots, worktree: Path
) -> None:
    before = await snapshots.track()
    for n in range(6):
        (worktree / f"f{n}").write_text("some line\n" * 100_000)
    found = (await snapshots.changes(before, await snapshots.track())).files
    assert [item.additions for item in found] == [100_000] * 6
    lengths = [len(item.patch) for item in found]
    assert MAX_PATCH_CHARS - len("+some line\n") < lengths[0] <= MAX_PATCH_CHARS
    assert found[0].patch.endswith("\n+some line\n")
    assert lengths[5] == 0


async def test_without_a_sandbox_there_are_no_snapshots_and_it_is_said_once(
    snapshots: Snapshots,
    worktree: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    settings: Settings,
) -> None:
    report = SandboxReport(False, "none", "no bubblewrap here", "")
    monkeypatch.setattr("sessions.git.box.probe", lambda: report)
    module._say_off.cache_clear()
    with caplog.at_level(logging.WARNING):
        with pytest.raises(SnapshotsOff):
            await snapshots.track()
        assert await take_snapshot(snapshots) is None
    assert [record.getMessage() for record in caplog.records] == [
        "snapshot.off no snapshots are taken, and no changes shown: no bubblewrap here"
    ]
    settings.UNSAFE_SANDBOX = True
    (worktree / "own").write_text("1")
    assert await tracked(snapshots, await snapshots.track()) == ["own"]


async def test_a_project_over_files_of_the_server_has_no_snapshots(
    session: Session, worktree: Path, settings: Settings
) -> None:
    settings.DATA_DIR = worktree / "data"
    with pytest.raises(SnapshotsOff):
        await Snapshots(session).track()


async def test_a_failing_comparison_is_logged_and_empty(
    snapshots: Snapshots, caplog: pytest.LogCaptureFixture
) -> None:
    await snapshots.track()
    with pytest.raises(SnapshotError):
        await snapshots.changes("--output=/tmp/x", "1" * 40)
    with caplog.at_level(logging.WARNING):
        assert await changed_files(snapshots, "1" * 40, "2" * 40) == Names([])
    assert "snapshot.diff_failed" in caplog.text


async def test_a_snapshot_costs_little(snapshots: Snapshots, worktree: Path) -> None:
    for n in range(200):
        (worktree / f"f{n}").write_text(str(n))
    await snapshots.track()
    before = os.times()
    for n in range(5):
        (worktree / "f0").write_text(f"again {n}")
        await snapshots.track()
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    assert spent / 5 < 0.15, spent


async def test_checkouts_of_a_project_have_shadow_repositories_of_their_own(
    session: Session, worktree: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine").write_text("1")
    await Snapshots(session).track()
    session.folder = str(own)
    tree = await Snapshots(session).track()
    assert await tracked(Snapshots(session), tree) == ["mine"]
    shadows = {path.name for path in (tmp_path / "data" / "snapshots").iterdir()}
    assert shadows == {session.project_id, session.pk}
