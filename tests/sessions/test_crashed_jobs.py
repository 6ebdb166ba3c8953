"""Clones and jobs of worktrees that hit a fault of ours end with a sentence instead of again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError
from django.utils import timezone

from sessions.actions.project_files import forgotten_projects
from sessions.checkouts import jobs
from sessions.checkouts.rows import forgotten_jobs
from sessions.git.lost_starts import MAX_LOST, counted_start
from sessions.git.project_folders import managed_home
from sessions.jobs import clones
from sessions.models import Checkout, Project, Session

pytestmark = pytest.mark.django_db(transaction=True)


def crash(fault: Exception) -> Any:
    async def fail(*_: object, **__: object) -> None:
        raise fault

    return fail


@pytest.fixture
def preparing(project: Project) -> Project:
    Project.objects.update(status=Project.Status.PREPARING, created_at="2026-01-01T00:00Z")
    return project


@pytest.fixture
def checkout(session: Session, project: Project) -> Checkout:
    return Checkout.objects.create(
        id=session.pk,
        project=project,
        session=session,
        folder=f"{project.directory}-own/shop",
        branch="opencode/mine",
        job=Checkout.Job.LOOK,
        job_at=timezone.now().replace(year=2026),
    )


def test_a_clone_that_hits_a_fault_is_not_begun_again(
    preparing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clones, "_clone_into", crash(RuntimeError("ours")))
    clones.start_clone(preparing.pk).result(10)
    assert forgotten_projects() == []
    preparing.refresh_from_db()
    assert preparing.status == Project.Status.FAILED
    assert "the fault was logged" in preparing.status_detail


def test_a_clone_whose_database_went_away_is(
    preparing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clones, "_clone_into", crash(OperationalError("gone")))
    with pytest.raises(OperationalError):
        clones.start_clone(preparing.pk).result(10)
    assert forgotten_projects() == [preparing]


def test_a_job_that_hits_a_fault_is_not_begun_again(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    async def fail(*_: object) -> None:
        tries.append(1)
        await asyncio.sleep(0.3)  # the other one waits for the lock by then
        raise RuntimeError("ours")

    monkeypatch.setattr(jobs, "_do", fail)
    for started in [jobs.start_job(checkout.pk) for _ in range(2)]:
        started.result(10)
    assert len(tries) == 1
    checkout.refresh_from_db()
    assert checkout.job_failed
    assert "the fault was logged" in checkout.job_detail
    assert forgotten_jobs() == []


def test_a_job_whose_database_went_away_is(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_do", crash(OperationalError("gone")))
    with pytest.raises(OperationalError):
        jobs.start_job(checkout.pk).result(10)
    checkout.refresh_from_db()
    assert (checkout.job, checkout.job_failed) == (Checkout.Job.LOOK, False)


def lose_workers(folder: Path, name: str, times: int = MAX_LOST) -> None:
    """Have processes begin and be killed in the middle."""
    folder.mkdir(parents=True, exist_ok=True)
    begin = (
        "import os, signal, sys; from pathlib import Path; import sessions.git.lost_starts as it\n"
        "with it.counted_start(Path(sys.argv[1]), sys.argv[2]):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(times):
        died = subprocess.run([sys.executable, "-c", begin, str(folder), name], check=False)
        assert died.returncode < 0


@pytest.mark.deep
def test_only_starts_without_an_end_count(tmp_path: Path) -> None:
    lose_workers(tmp_path, "clone", MAX_LOST - 1)
    for _ in range(3):
        with counted_start(tmp_path, "clone") as is_hopeless:
            assert not is_hopeless
    assert list(tmp_path.iterdir()) == []


@pytest.mark.deep
def test_a_clone_that_loses_its_worker_each_time_ends(preparing: Project) -> None:
    lose_workers(managed_home(preparing.pk), "clone")
    async_to_sync(clones.prepare_project)(preparing.pk)
    preparing.refresh_from_db()
    assert preparing.status == Project.Status.FAILED
    assert "its worker was lost" in preparing.status_detail
    # A person may try again.
    with counted_start(managed_home(preparing.pk), "clone") as is_hopeless:
        assert not is_hopeless


@pytest.mark.deep
def test_a_job_that_loses_its_worker_each_time_ends(checkout: Checkout) -> None:
    lose_workers(Path(checkout.folder).parent, "checkout")
    async_to_sync(jobs.run_job)(checkout.pk)
    checkout.refresh_from_db()
    assert (checkout.job, checkout.job_failed) == ("", True)
    assert "its worker was lost" in checkout.job_detail
