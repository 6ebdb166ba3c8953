"""Clones and jobs of worktrees that hit a fault of ours end with a sentence instead of again."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from sessions import clone
from sessions.actions.checkout_files import forgotten_jobs
from sessions.actions.project_files import forgotten_projects
from sessions.checkouts import jobs
from sessions.models import Checkout, Project, Session
from tests.e2e.rest import wait_for

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
    monkeypatch.setattr(clone, "prepare_project", crash(RuntimeError("ours")))
    clone.start_clone(preparing.pk)
    wait_for(lambda: not forgotten_projects())
    preparing.refresh_from_db()
    assert preparing.status == Project.Status.FAILED
    assert "the fault was logged" in preparing.status_detail


def test_a_clone_whose_database_went_away_is(
    preparing: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clone, "prepare_project", crash(OperationalError("gone")))
    with pytest.raises(OperationalError):
        clone.start_clone(preparing.pk).result(10)
    assert forgotten_projects() == [preparing]


def test_a_job_that_hits_a_fault_is_not_begun_again(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "run_job", crash(RuntimeError("ours")))
    jobs.start_job(checkout.pk)
    wait_for(lambda: not Checkout.objects.get(pk=checkout.pk).job)
    checkout.refresh_from_db()
    assert checkout.job_failed
    assert "the fault was logged" in checkout.job_detail
    assert forgotten_jobs() == []
