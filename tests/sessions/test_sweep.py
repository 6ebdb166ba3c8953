from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from pytest_django import Settings

from opencode_web.celery import app
from opencode_web.lib.ids import new_id
from sessions import tasks
from sessions.actions.sessions import delete_session
from sessions.git.snapshots import Snapshots
from sessions.jobs import sweep
from sessions.models import Project, Session, TeamPlugin
from teams.models import Team, User
from tests.sessions.factories import session_access

pytestmark = pytest.mark.django_db

Age = Callable[[], None]


@pytest.fixture
def data(db: None, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    made = timezone.now() - timedelta(days=1)
    MigrationRecorder.Migration.objects.update(applied=made)
    return tmp_path / "data"


@pytest.fixture
def age(tmp_path: Path) -> Age:
    def make_old() -> None:
        then = time.time() - sweep.MIN_AGE_S - 60
        for root in (tmp_path / "data", tmp_path / "worktrees"):
            for path in [*root.rglob("*")]:
                os.utime(path, (then, then), follow_symlinks=False)

    return make_old


def fill(data: Path, settings: Settings, session: str, project: str) -> list[Path]:
    places = [
        data / "sessions" / session / "home" / "f",
        data / "tool-output" / session / "f",
        data / "snapshots" / project / f"index-{session}",
        data / "snapshots" / project / f"index-{session}.lock",
        Path(settings.WORKTREES_DIR) / "managed" / project / "code" / "f",
    ]
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return places


def test_files_of_existing_rows_stay(
    data: Path, settings: Settings, session: Session, age: Age
) -> None:
    places = fill(data, settings, session.pk, session.project_id)
    age()
    assert sweep.sweep_files() == 0
    assert all(path.exists() for path in places)


def test_packages_that_nobody_has_go(data: Path, team: Team, age: Age) -> None:
    digests = ["a" * 64, "b" * 64, "c" * 64]
    fields = {"name": "one", "version": "1.0.0", "added_at": timezone.now()}
    TeamPlugin.objects.create(team=team, digest=digests[0], **fields)
    TeamPlugin.objects.create(digest=digests[1], **fields)
    for digest in digests:
        (data / "packages" / digest / "node_modules/one").mkdir(parents=True)
    age()
    assert sweep.sweep_files() == 1
    assert sorted(path.name for path in (data / "packages").iterdir()) == digests[:2]


def test_files_of_a_deleted_session_go_and_its_projects_stay(
    data: Path, settings: Settings, session: Session, alice: User, age: Age
) -> None:
    places = fill(data, settings, session.pk, session.project_id)
    age()
    delete_session(session_access(alice, session))
    assert sweep.sweep_files() == 4
    assert [path.exists() for path in places] == [False, False, False, False, True]


def test_files_of_a_deleted_team_go(
    data: Path, settings: Settings, session: Session, team: Team, age: Age
) -> None:
    fill(data, settings, session.pk, session.project_id)
    brought = Path(settings.WORKTREES_DIR) / "brought"
    brought.mkdir()
    (data / "catalog.jsonl.gz").write_text("x")
    age()
    team.delete()
    sweep.sweep_files()
    left = [path.name for root in (data, brought.parent) for path in root.rglob("*")]
    assert sorted(left) == [
        *("brought", "catalog.jsonl.gz", "managed", "sessions", "snapshots", "tool-output"),
    ]


def test_what_is_young_or_nobodys_stays(data: Path, settings: Settings, age: Age) -> None:
    others = [data / "sessions" / "notes", data / "snapshots" / "README"]
    for path in others:
        path.mkdir(parents=True)
    age()
    young = fill(data, settings, new_id("ses"), new_id("prj"))
    assert sweep.sweep_files() == 0
    assert all(path.exists() for path in (*others, *young))


def test_a_new_database_does_not_sweep_away_what_was_there_before(
    data: Path, settings: Settings, age: Age
) -> None:
    places = fill(data, settings, new_id("ses"), new_id("prj"))
    age()
    MigrationRecorder.Migration.objects.update(applied=timezone.now())
    assert sweep.sweep_files() == 0
    assert all(path.exists() for path in places)


def test_links_are_not_followed_and_closed_folders_are_opened(
    data: Path, tmp_path: Path, age: Age
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "kept").write_text("x")
    gone = data / "sessions" / new_id("ses")
    closed = gone / "home" / "mod"
    closed.mkdir(parents=True)
    (closed / "f").write_text("x")
    (closed / "link").symlink_to(outside)
    link = data / "sessions" / new_id("ses")
    link.symlink_to(outside)
    age()
    closed.chmod(0o500)
    closed.parent.chmod(0o000)
    assert sweep.sweep_files() == 2
    assert list((data / "sessions").iterdir()) == []
    assert (outside / "kept").exists()
    assert outside.stat().st_mode & 0o777 == 0o750


def test_it_knows_the_index_of_a_snapshot(session: Session) -> None:
    index = Snapshots(session)._index
    assert sweep._session_of_index(index.name) == session.pk
    assert index.parent.name == session.project_id


def test_every_host_sweeps_its_own(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        "sessions.wake._send", lambda task, *args, queue: sent.append((task, queue))
    )
    Project.objects.update(host="far")
    tasks.sweep_hosts()
    assert sent == [
        ("sessions.sweep_files", "sessions.far"),
        ("sessions.sweep_files", "sessions.local"),
    ]
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert "sessions.sweep_hosts" in scheduled
    assert scheduled <= set(app.tasks)


def test_whole_outputs_are_kept_for_seven_days(
    data: Path, settings: Settings, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data / "tool-output" / session.pk
    folder.mkdir(parents=True)
    for name in ("tool_1", "other"):
        (folder / name).write_text("x")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 7 * 24 * 3600 - 60)
    assert sweep.sweep_files() == 0
    monkeypatch.setattr(time, "time", lambda: now + 7 * 24 * 3600 + 60)
    assert sweep.sweep_files() == 1
    assert [path.name for path in folder.iterdir()] == ["other"]
    assert app.conf.beat_schedule["sweep-files"]["schedule"] == 3600
