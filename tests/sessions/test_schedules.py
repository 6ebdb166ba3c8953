from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from opencode_web.lib.errors import AppError, Conflict, Forbidden
from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess, access_project
from sessions.actions.schedule_runs import run_due, run_now, settle_runs
from sessions.actions.schedules import (
    ScheduleDraft,
    create_schedule,
    delete_schedule,
    pause_schedule,
    resume_schedule,
    update_schedule,
)
from sessions.events.types import SessionStatus
from sessions.models import Message, Project, Schedule, ScheduleRun, Session
from sessions.runner import run_session
from teams.access import access_team
from teams.actions.announcements import Draft, end_announcement, post_announcement
from teams.actions.budgets import change_budgets
from teams.auth import authenticate_user
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.factories import make_user
from tests.sessions.factories import script
from tests.sessions.story import write

DRAFT = ScheduleDraft(
    name="Nightly check",
    prompt=script([{"text": "All is well."}]),
    cron="30 6 * * *",
    timezone="Europe/Berlin",
    model="demo/inline",
)


def reach(user: User, project: Project) -> ProjectAccess:
    return access_project(authenticate_user(user), project.pk)


@pytest.fixture
def plan(bob: User, project: Project) -> Schedule:
    return create_schedule(reach(bob, project), DRAFT)


def make_due(plan: Schedule, **ago: float) -> None:
    next_at = timezone.now() - timedelta(**ago or {"seconds": 1})
    Schedule.objects.filter(pk=plan.pk).update(next_at=next_at)


def end(run: ScheduleRun, outcome: Any, detail: str = "") -> None:
    assert run.session is not None
    write(run.session, SessionStatus(state="idle", outcome=outcome, detail=detail))


@pytest.mark.django_db(transaction=True)
def test_a_run_is_a_session_of_its_author(plan: Schedule, bob: User, project: Project) -> None:
    assert run_due() == 0
    make_due(plan)
    assert run_due() == 1
    assert run_due() == 0
    run = ScheduleRun.objects.get()
    session = run.session
    assert session is not None
    assert (session.title, session.owner, session.project) == ("Nightly check", bob, project)
    assert session.metadata == {"schedule": plan.pk}
    assert settle_runs() == 0
    submit(run_session(session.pk)).result(30)
    assert settle_runs() == 1
    run.refresh_from_db()
    assert (run.state, run.detail) == ("done", "")
    assert run.ended_at is not None
    roles = [message.data["role"] for message in Message.objects.filter(session=session)]
    assert sorted(roles) == ["assistant", "user"]
    plan.refresh_from_db()
    assert plan.next_at is not None
    assert plan.next_at > timezone.now()
    assert (plan.next_at.minute, plan.failures) == (30, 0)


@pytest.mark.django_db(transaction=True)
def test_several_workers_begin_one_run(plan: Schedule) -> None:
    make_due(plan)
    together = Barrier(3)

    def look() -> int:
        together.wait(30)
        try:
            return run_due()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        looks = [pool.submit(look) for _ in range(3)]
        assert sum(one.result(60) for one in looks) == 1
    assert ScheduleRun.objects.count() == Session.objects.count() == 1


@pytest.mark.django_db
def test_what_was_missed_is_made_up_for_once(plan: Schedule) -> None:
    make_due(plan, days=3, hours=1)
    assert run_due() == 1
    assert run_due() == 0
    run = ScheduleRun.objects.get()
    assert run.detail in {f"{n} more times were missed before it." for n in (3, 4)}


@pytest.mark.django_db
def test_a_run_is_skipped_while_the_one_before_goes_on(plan: Schedule) -> None:
    make_due(plan)
    run_due()
    make_due(plan)
    assert run_due() == 1
    first, second = ScheduleRun.objects.order_by("pk")
    assert (first.state, second.state, second.session) == ("running", "skipped", None)
    assert "still_running" in str(second.cause)
    with pytest.raises(Conflict, match="still in progress"):
        run_now(reach(plan.author, plan.project), plan)  # type: ignore[arg-type]
    end(first, "done")
    make_due(plan)
    run_due()
    assert [row.state for row in ScheduleRun.objects.order_by("pk")] == [
        "running",
        "skipped",
        "running",
    ]


@pytest.mark.django_db
def test_three_failures_in_a_row_pause_it(plan: Schedule) -> None:
    for outcome in ("failed", "failed", "done", "failed", "stopped", "failed"):
        make_due(plan)
        run_due()
        end(ScheduleRun.objects.latest("pk"), outcome, "The key was refused.")
        settle_runs()
    plan.refresh_from_db()
    assert (plan.failures, plan.paused_at) == (2, None)
    make_due(plan)
    run_due()
    end(ScheduleRun.objects.latest("pk"), "failed", "The key was refused.")
    settle_runs()
    plan.refresh_from_db()
    assert plan.paused_reason == "It failed 3 times in a row. The key was refused."
    values = {"times": 3, "reason": "The key was refused."}
    assert plan.paused_cause == {"reason": "failed_again", "values": values}
    assert plan.next_at is None
    assert AuditEntry.objects.filter(action="schedule.paused", actor=None).count() == 1
    make_due(plan)
    Schedule.objects.update(next_at=None)
    assert run_due() == 0
    resume_schedule(reach(plan.author, plan.project), plan)  # type: ignore[arg-type]
    plan.refresh_from_db()
    assert (plan.failures, plan.paused_at, plan.paused_reason) == (0, None, "")
    assert plan.paused_cause == {}
    assert plan.next_at is not None


@pytest.mark.django_db
@pytest.mark.parametrize("why", ["left", "inactive", "deleted", "viewer", "billing"])
def test_without_its_authors_right_it_fails_and_nothing_runs(
    why: str, plan: Schedule, bob: User
) -> None:
    if why == "left":
        Membership.objects.filter(user=bob).delete()
    elif why in Role.values:
        Membership.objects.filter(user=bob).update(role=why)
    elif why == "inactive":
        User.objects.filter(pk=bob.pk).update(is_active=False)
    else:
        Schedule.objects.update(author=None)
    make_due(plan)
    assert run_due() == 1
    run = ScheduleRun.objects.get()
    assert (run.state, run.session) == ("failed", None)
    assert run.cause["reason"] in ("author_without_account", "author_without_right")
    assert not Session.objects.exists()
    plan.refresh_from_db()
    assert plan.failures == 1


@pytest.mark.django_db
def test_it_does_not_run_for_somebody_who_could_not_sign_in_as_the_team_wants(
    plan: Schedule, team: Team
) -> None:
    Team.objects.filter(pk=team.pk).update(requires_mfa=True)
    for _ in range(3):
        make_due(plan)
        assert run_due() == 1
    assert not Session.objects.exists()
    plan.refresh_from_db()
    assert plan.paused_at is not None
    assert "requires multi-factor authentication" in plan.paused_reason


@pytest.mark.django_db
def test_a_project_that_is_not_ready_is_a_failure(plan: Schedule) -> None:
    Project.objects.update(status="failed", status_detail="It is gone.")
    make_due(plan)
    run_due()
    assert "not ready" in ScheduleRun.objects.get().detail


@pytest.mark.django_db
def test_a_session_that_is_deleted_ends_its_run(plan: Schedule) -> None:
    make_due(plan)
    run_due()
    Session.objects.all().delete()
    assert settle_runs() == 1
    run = ScheduleRun.objects.get()
    assert (run.state, run.cause["reason"]) == ("stopped", "session_deleted")


@pytest.mark.django_db
def test_whoever_changes_it_is_its_author(
    plan: Schedule, bob: User, adam: User, alice: User, project: Project, team: Team
) -> None:
    changed = update_schedule(
        reach(adam, project),
        plan,
        ScheduleDraft("Weekly", "look", "0 8 * * 1", model="demo/inline"),
    )
    assert (changed.author, changed.name, changed.cron) == (adam, "Weekly", "0 8 * * 1")
    for act in (update_schedule, delete_schedule, pause_schedule, resume_schedule, run_now):
        more = [DRAFT] if act is update_schedule else []
        with pytest.raises(Forbidden, match="Only the author and admins"):
            act(reach(bob, project), changed, *more)  # type: ignore[operator]
    paused = pause_schedule(reach(alice, project), changed)
    assert (paused.author, paused.paused_reason) == (adam, "Alice paused it.")
    make_due(plan)
    Schedule.objects.update(next_at=None)
    assert run_due() == 0
    run = run_now(reach(alice, project), paused)
    assert run.by == alice
    assert run.session is not None
    assert run.session.owner == adam
    delete_schedule(reach(alice, project), changed)
    assert not ScheduleRun.objects.exists()
    assert Session.objects.count() == 1
    actions = AuditEntry.objects.filter(action__startswith="schedule.").order_by("pk")
    assert [entry.action for entry in actions] == [
        "schedule.created",
        "schedule.updated",
        "schedule.paused",
        "schedule.run",
        "schedule.deleted",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cron": "* * * * *"}, "5 minutes"),
        ({"timezone": "Mars"}, "time zone does not exist"),
        ({"name": " "}, "A name must have"),
        ({"name": "x" * 121}, "A name must have"),
        ({"prompt": " \n"}, "A prompt must have"),
        ({"model": "nobody/nothing"}, "nobody"),
        ({"agent": "nobody"}, "nobody"),
    ],
)
def test_what_cannot_be_run_is_refused(
    bob: User, project: Project, change: dict[str, str], said: str
) -> None:
    draft = ScheduleDraft(**{**DRAFT.__dict__, **change})
    with pytest.raises(AppError, match=said):
        create_schedule(reach(bob, project), draft)
    assert not Schedule.objects.exists()


@pytest.mark.django_db
def test_a_viewer_makes_none_and_a_project_has_a_bounded_number(
    bob: User, vera: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Forbidden):
        create_schedule(reach(vera, project), DRAFT)
    monkeypatch.setattr("sessions.actions.schedules.MAX_SCHEDULES", 1)
    create_schedule(reach(bob, project), DRAFT)
    with pytest.raises(Conflict, match="at most 1"):
        create_schedule(reach(bob, project), DRAFT)


@pytest.mark.django_db
def test_a_wrong_model_later_is_a_failure_with_a_reason(plan: Schedule) -> None:
    Schedule.objects.update(model="gone/model")
    make_due(plan)
    run_due()
    run = ScheduleRun.objects.get()
    assert (run.state, run.session) == ("failed", None)
    assert "gone" in run.detail


@pytest.mark.django_db
def test_a_spent_budget_skips_a_run_and_pauses_nothing(plan: Schedule, alice: User) -> None:
    access = access_team(alice, plan.project.team_id)
    change_budgets(access, team=Decimal(0), each=None, members={})
    for _ in range(4):
        make_due(plan)
        run_due()
    plan.refresh_from_db()
    assert (plan.failures, plan.paused_at) == (0, None)
    run = ScheduleRun.objects.latest("started_at")
    assert (run.state, run.session) == ("skipped", None)
    assert run.cause["reason"] == "team_budget_reached"
    assert not Session.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_maintenance_makes_schedules_wait_and_pauses_none(plan: Schedule, bob: User) -> None:
    root = make_user("root@example.com", operator=True)
    row = post_announcement(root, Draft("Back at noon", stops_prompts=True))
    make_due(plan)
    assert run_due() == 0
    for _ in range(3):
        run = run_now(reach(bob, plan.project), plan)
        assert (run.state, run.detail) == ("skipped", "Back at noon")
    end_announcement(root, row.pk)
    assert run_due() == 1
    plan.refresh_from_db()
    assert (plan.failures, plan.paused_at) == (0, None)
    assert Session.objects.count() == 1
