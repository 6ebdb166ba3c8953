"""Fill an installation, back it up while it works, lose it, restore it, and go on."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session as StoredSession
from django.test import Client
from pytest_django import Settings

from opencode_web.backup.manifest import read_manifest
from opencode_web.lib.crypto import decrypt, encrypt
from sessions.actions.checkouts import Plan
from sessions.actions.revert import revert_session
from sessions.models import Backup, Event, Project, ProjectSecret, SavedRule, Session
from teams.models import User
from tests.opencode_web.backup.conftest import Command, Meanwhile, lose_database, refused
from tests.sessions.checkouts.conftest import run
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.runner.drains import drain
from tests.sessions.story import Story

LONG = "seq 1 30000; sleep 0"


def play(user: User, session: Session, *commands: str) -> str:
    calls = [[{"tool": "bash", "input": {"command": one}}] for one in commands]
    row = prompt(user, session, script(*calls, [{"text": "done"}]))
    asyncio.run(drain(session))
    session.refresh_from_db()
    assert session.outcome == "done", session.outcome_detail
    return row.pk


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def tree(session: Session) -> dict[str, bytes]:
    found = files_below(Path(session.worktree))
    return {name: data for name, data in found.items() if not name.startswith(".git")}


@pytest.fixture
def busy(alice: User, project: Project) -> Meanwhile:
    """A session that others write to while the backup is made."""
    story = Story(make_session(alice, project, title="Busy"), alice)

    def work() -> None:
        story.ask("and this?")
        story.answer()

    return Meanwhile(work)


@pytest.mark.deep
def test_everything_is_there_again_and_goes_on(
    alice: User,
    project: Project,
    busy: Meanwhile,
    command: Command,
    settings: Settings,
    tmp_path: Path,
) -> None:
    settings.BACKUP_PASSPHRASE = "correct horse battery"
    SavedRule.objects.create(
        project=project, permission="bash", pattern="*", created_at=project.created_at
    )
    browser = Client()
    browser.force_login(alice)
    ProjectSecret.objects.create(
        project=project, name="TOKEN", value=encrypt("hush"), updated_at=project.created_at
    )
    session = make_session(alice, project, title="Mend the till", checkout=Plan())
    play(alice, session, "echo four >>till.py; git commit -qam Four", LONG)
    first = tree(session)
    second_prompt = play(alice, session, "echo five >>till.py; echo new >untracked; rm d/f")
    folder = Path(session.worktree)
    (folder / "link").symlink_to("/nowhere")
    second = tree(session)
    outputs = files_below(settings.DATA_DIR / "tool-output")
    assert outputs

    busy.start()
    said = command("backup", tmp_path / "backup")
    busy.stop()
    assert busy.rounds
    assert "Done" in said
    manifest = read_manifest(tmp_path / "backup")
    assert "is intact" in command("backup", tmp_path / "backup", verify=True)
    row = Backup.objects.get()
    assert (row.events, row.problem, bool(row.verified_at)) == (manifest.events, "", True)
    assert manifest.encrypted

    (settings.WORKTREES_DIR / "later").touch()
    assert "Pass --force" in refused(command, "restore", tmp_path / "backup")
    assert (settings.WORKTREES_DIR / "later").exists()
    lose_database()
    shutil.rmtree(settings.DATA_DIR)
    settings.BACKUP_PASSPHRASE = ""
    assert "is encrypted" in refused(command, "restore", tmp_path / "backup")
    settings.BACKUP_PASSPHRASE = "incorrect horse battery"
    assert "is not the one" in refused(command, "restore", tmp_path / "backup")
    settings.BACKUP_PASSPHRASE = "correct horse battery"
    command("restore", tmp_path / "backup")
    assert Event.objects.count() == manifest.events
    assert not Backup.objects.exists()
    for one in Session.objects.all():
        assert_log_equals_rows(one)
    session.refresh_from_db()
    assert tree(session) == second
    assert (folder / "link").readlink() == Path("/nowhere")
    assert files_below(settings.DATA_DIR / "tool-output") == outputs
    assert decrypt(ProjectSecret.objects.get().value) == "hush"
    assert StoredSession.objects.exists()
    assert browser.get(f"/session/{session.pk}").status_code == 200
    assert run("git fsck --full; git status --porcelain", folder).splitlines() == [
        " D d/f",
        " M till.py",
        "?? link",
        "?? untracked",
    ]

    (folder / "link").unlink()
    revert_session(session_access(alice, session), second_prompt)
    asyncio.run(drain(session))
    assert tree(session) == first
    play(alice, session, "echo six >>till.py")
    assert (folder / "till.py").read_text().endswith("four\nsix\n")
    assert_log_equals_rows(session)
