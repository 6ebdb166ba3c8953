from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from opencode_web.celery import app
from opencode_web.lib.db import in_db
from sessions import tasks
from sessions.events.parts import StepFinishPart, StepStartPart
from sessions.events.types import PartUpdated
from sessions.git.snapshots import SnapshotGone, Snapshots
from sessions.jobs.snapshot_pruning import prune_snapshots
from sessions.models import Project, Session
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root(project: Project) -> Path:
    return Path(project.directory)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


def _tell(session: Session, user: User, before: str, after: str) -> None:
    story = Story(session, user)
    story.ask("change it")
    address = {"sessionID": session.pk, "messageID": story.answer()}
    tokens = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    start = StepStartPart(id=f"prt_a{session.pk}", snapshot=before, **address)
    end = StepFinishPart(
        id=f"prt_b{session.pk}", reason="stop", snapshot=after, cost=0, tokens=tokens, **address
    )
    write(session, PartUpdated(part=start), PartUpdated(part=end))


async def _change(session: Session, user: User, root: Path, name: str) -> tuple[str, str]:
    snapshots = Snapshots(session)
    (root / name).write_bytes(os.urandom(200_000))
    before = await snapshots.track()
    (root / name).write_bytes(os.urandom(200_000))
    after = await snapshots.track()
    await in_db(_tell, session, user, before, after)
    return before, after


def _age(session: Session) -> None:
    then = timezone.now() - timedelta(days=31)
    Session.objects.filter(pk=session.pk).update(updated_at=then, state="idle")


async def test_what_a_session_can_go_back_to_is_kept_and_the_rest_goes(
    alice: User, project: Project, root: Path
) -> None:
    used, old, rolled_back = [await in_db(make_session, alice, project) for _ in range(3)]
    kept = await _change(used, alice, root, "used")
    (root / "used").unlink()
    gone = await _change(old, alice, root, "old")
    (root / "old").unlink()
    staged = await _change(rolled_back, alice, root, "staged")
    for session in (old, rolled_back):
        await in_db(_age, session)
    revert = {"messageID": "msg_1", "snapshot": staged[0], "restored": {"after": staged[1]}}
    await in_db(Session.objects.filter(pk=rolled_back.pk).update, revert=revert)

    (pruned,) = await prune_snapshots(grace="now")
    assert pruned.after < pruned.before - 190_000
    snapshots = Snapshots(used)
    assert (await snapshots.changed_files(*kept)).names == ["used"]
    assert (await snapshots.changed_files(*staged)).names == ["staged"]
    with pytest.raises(SnapshotGone):
        await anext(snapshots.entry_changes([gone]))
    # The next snapshot of each builds on what is there, and a second run finds nothing to do.
    for session in (used, old, rolled_back):
        await Snapshots(session).track()
    (again,) = await prune_snapshots(grace="now")
    assert again.after <= pruned.after + 500
    assert (await snapshots.changed_files(*kept)).names == ["used"]


async def test_what_was_just_written_stays_whoever_names_it(session: Session, root: Path) -> None:
    snapshots = Snapshots(session)
    (root / "a").write_text("1")
    before = await snapshots.track()
    (root / "a").write_text("2")
    after = await snapshots.track()
    await prune_snapshots()
    assert (await snapshots.changed_files(before, after)).names == ["a"]


async def test_a_repository_that_is_broken_stops_no_other(
    session: Session, root: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (root / "a").write_text("1")
    await Snapshots(session).track()
    (data / "snapshots" / "prj_broken" / "objects" / "info").mkdir(parents=True)
    assert len(await prune_snapshots()) == 1
    assert "snapshot.prune_failed repository=prj_broken" in caplog.text


def test_the_beat_has_every_host_prune(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    asked: list[str] = []
    monkeypatch.setattr(tasks, "wake_prune", asked.append)
    tasks.prune_hosts()
    assert project.host in asked
    assert app.conf.beat_schedule["prune-snapshots"]["task"] == tasks.prune_hosts.name
