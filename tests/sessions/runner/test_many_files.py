"""A turn that makes far more files than anybody reads: everything is counted, the first are named,
and all of them go back and come again."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client

from opencode_web.lib.db import in_db
from sessions.actions.revert import revert_session, unrevert_session
from sessions.checkouts import repository
from sessions.git import snapshots
from sessions.git.snapshots import Snapshots
from sessions.models import Event, Message, Project, Session
from sessions.present.place import Place
from sessions.runner import run_session
from sessions.runner.files import restore_files
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of

pytestmark = [pytest.mark.deep, pytest.mark.any_database]

NAMED = 3


@pytest.fixture
def root(project: Project, session: Session) -> Path:
    allow_bash(session)
    return Path(project.directory)


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MAX_FILES", NAMED)
    monkeypatch.setattr(snapshots, "_BATCH_FILES", 4)


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "input": {"command": command}}


def made(count: int, folder: str = "made") -> dict[str, Any]:
    names = f"$(seq -f {folder}/%05g.txt {count})"
    return bash(f"mkdir -p {folder}; for f in {names}; do printf 'a\\nb\\n' >$f; done")


async def play(alice: User, session: Session, *calls: dict[str, Any]) -> Message:
    row = await in_db(prompt, alice, session, script(*([one] for one in calls), [{"text": "ok"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    return await in_db(Message.objects.get, pk=row.pk)


def count(root: Path) -> int:
    return sum(path.is_file() for path in root.rglob("*") if ".git" not in path.parts)


@pytest.mark.usefixtures("_few")
async def test_the_first_files_are_named_and_all_are_counted_and_go_back(
    alice: User, session: Session, root: Path
) -> None:
    (root / "before").write_text("1\n")
    turn = await play(alice, session, made(10), bash("rm before"))
    patches = await in_db(parts_of, session, "patch")
    assert [(one["files"], one.get("more")) for one in patches] == [
        ([f"made/0000{n}.txt" for n in (1, 2, 3)], 7),
        (["before"], None),
    ]
    summary = turn.data["summary"]
    assert [one["file"] for one in summary["diffs"]] == ["before", *patches[0]["files"][:2]]
    assert [bool(one["patch"]) for one in summary["diffs"]] == [True] * NAMED
    assert summary["more"] == {"files": 8, "additions": 16, "deletions": 0}
    assert session.summary == {"files": 11, "additions": 20, "deletions": 1}

    await in_db(lambda: revert_session(session_access(alice, session), turn.pk))
    await drain(session)
    assert (session.outcome, count(root), (root / "before").read_text()) == ("done", 1, "1\n")
    restored = session.revert["restored"]
    assert (restored["total"], len(restored["files"]), restored["kept"]) == (11, NAMED, [])
    assert session.summary == {"files": 0, "additions": 0, "deletions": 0}
    assert not (root / "made").exists()

    await in_db(lambda: unrevert_session(session_access(alice, session)))
    await drain(session)
    assert (session.outcome, count(root)) == ("done", 10)
    assert session.summary == {"files": 11, "additions": 20, "deletions": 1}


async def test_a_file_that_several_turns_change_counts_once_wherever_it_is_counted(
    alice: User, session: Session, root: Path, client_for: Callable[[User], Client]
) -> None:
    await play(alice, session, bash("echo 1 > a; echo 1 > b"))
    last = await play(alice, session, bash("echo 2 >> a; echo 1 > c"))
    assert session.summary == {"files": 3, "additions": 4, "deletions": 0}

    def pages() -> tuple[str, str]:
        client = client_for(alice)
        page = client.get(f"/t/acme/s/{session.pk}?panel=changes").content.decode()
        return page, client.get("/t/acme/").content.decode()

    page, home = await in_db(pages)
    assert re.findall(r"data-changes-count>(\d+)<", page) == ["3", "3"]
    assert page.count("data-file-card") == 3
    assert "3 files +4 -0" in home
    # The end of a turn tells of that turn alone.
    footer = page[page.index(f'id="turn-footer-{last.pk}"') :]
    assert "2 files" in footer[: footer.index("</footer>")]

    await in_db(lambda: revert_session(session_access(alice, session), last.pk))
    await drain(session)
    assert session.summary == {"files": 2, "additions": 2, "deletions": 0}


@pytest.mark.usefixtures("_few")
async def test_what_somebody_else_has_made_between_two_steps_is_not_counted(
    alice: User, session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    track, trees = Snapshots.track, list[str]()

    async def and_then(self: Snapshots) -> str:
        trees.append(await track(self))
        if len(trees) == 2:
            (root / "made" / "00000.txt").write_text("somebody's\n")
        return trees[-1]

    monkeypatch.setattr(Snapshots, "track", and_then)
    turn = await play(alice, session, made(10), bash("echo c >>made/00002.txt"))
    assert len(trees) == 4
    diffs = turn.data["summary"]["diffs"]
    assert [(one["file"], one["additions"]) for one in diffs] == [
        ("made/00001.txt", 2),
        ("made/00002.txt", 3),
        ("made/00003.txt", 2),
    ]
    assert [one["patch"].count("\n+") for one in diffs] == [3, 4, 3]
    assert turn.data["summary"]["more"] == {"files": 7, "additions": 14, "deletions": 0}


@pytest.mark.usefixtures("_few")
async def test_pages_say_how_many_there_are(
    alice: User, session: Session, root: Path, client: Client
) -> None:
    turn = await play(alice, session, made(10))
    await in_db(client.force_login, alice)
    place = await in_db(Place.of, session)

    def page(query: str) -> str:
        answer = client.get(f"{place.url('session')}{query}")
        assert answer.status_code == 200
        return answer.content.decode()

    assert "10 files" in await in_db(page, "")
    for query in ("?panel=changes", "?panel=changes&source=session"):
        pane = await in_db(page, query)
        assert "7 more changed files are not listed." in pane
        assert "+20" in pane
    menu = await in_db(client.get, place.url("turn_menu", turn=turn.pk))
    assert "7 more" in menu.content.decode()


async def test_git_is_heard_to_its_end_whatever_it_says(
    alice: User,
    session: Session,
    root: Path,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    git = ["git", "-C", str(root), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "commit", "-qm", "first", "--allow-empty"], check=True)
    await play(alice, session, made(40), made(40, "staged"), bash("git add staged"))
    monkeypatch.setattr(repository, "_MAX_OUTPUT_BYTES", 400)
    await in_db(client.force_login, alice)

    def answer(path: str) -> Any:
        return client.get(f"/{path}directory={root}").json()

    assert len(await in_db(answer, "file/status?")) == 80
    assert len(await in_db(answer, "vcs/status?")) == 80
    assert len(await in_db(answer, "vcs/diff?mode=git&")) == 80
    place = await in_db(Place.of, session)
    page = await in_db(client.get, f"{place.url('session')}?panel=changes&source=uncommitted")
    assert "+160" in page.content.decode()


async def test_no_event_grows_with_the_files(
    alice: User, session: Session, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Mock(wraps=restore_files.put_back)
    monkeypatch.setattr(restore_files, "put_back", calls)
    turn = await play(alice, session, made(5_000))
    (patch,) = await in_db(parts_of, session, "patch")
    assert len(patch["files"]) + patch["more"] == session.summary["files"] == 5_000
    assert len(turn.data["summary"]["diffs"]) == len(patch["files"]) == snapshots.MAX_FILES
    await in_db(lambda: revert_session(session_access(alice, session), turn.pk))
    await drain(session)
    assert (count(root), session.revert["restored"]["total"]) == (0, 5_000)
    # Each opens, locks and leaves the folder once.
    assert calls.call_count == 5_000 / restore_files.AT_ONCE
    rows = await in_db(list, Event.objects.filter(session=session))
    assert max(len(json.dumps(row.data)) for row in rows) < 600_000
