from __future__ import annotations

import errno
import html
import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause
from opencode_web.management.commands import erase as command
from sessions.access import access_project
from sessions.actions.erasure import (
    erase_project_rows,
    request_person_erasure,
    request_project_erasure,
    request_team_erasure,
)
from sessions.actions.holds import hold_named
from sessions.actions.rebuild import rebuild_session
from sessions.actions.sessions import delete_session
from sessions.events.reasons import TurnReason
from sessions.events.replay import read_rows
from sessions.events.types import SessionStatus
from sessions.jobs import erasure as job
from sessions.jobs.erase_files import OF_SESSIONS, export_file
from sessions.models import Part, Project, SavedRule, Session, State
from sessions.tasks import erase_files_here
from teams.actions.audit import BrokenChain
from teams.actions.erasure import erase_targets_in_audit
from teams.actions.holds import release_hold
from teams.audit import AuditAction, record
from teams.auth import authenticate_user
from teams.models import AuditEntry, Erasure, Membership, Team, TeamExport, User
from tests.factories import make_user
from tests.sessions.factories import make_session, session_access
from tests.sessions.story import Story, write
from tests.sessions.test_erasure import CANARY, database_files_with, run, tables_with

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root(db: None, tmp_path: Path, settings: Settings) -> User:
    settings.DATA_DIR = tmp_path / "data"
    return make_user("root@example.com", operator=True)


def test_the_command_waits_for_a_worker_that_was_faster(
    bob: User, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(erasure_id: str) -> None:
        Erasure.objects.filter(pk=erasure_id).update(state=Erasure.State.RUNNING)

    def end(_s: float) -> None:
        Erasure.objects.update(state=Erasure.State.DONE)

    monkeypatch.setattr(command, "run_erasure", begin)
    monkeypatch.setattr(command.time, "sleep", end)
    call_command("erase", "person", bob.email, confirm=bob.email, stdout=io.StringIO())
    assert Erasure.objects.get().state == Erasure.State.DONE


def test_a_project_that_another_erasure_has_deleted_is_no_failure(
    alice: User, team: Team, project: Project, root: User
) -> None:
    erase_project_rows(Project.objects.get())
    assert erase_project_rows(project) == []
    row = run(request_team_erasure(root, team, confirm=team.slug))
    assert (row.state, row.problem, Team.objects.count()) == ("done", "", 0)


def test_no_archive_keeps_what_is_erased(
    alice: User, bob: User, team: Team, project: Project, root: User
) -> None:
    access = access_project(authenticate_user(alice), project.pk)
    for erase in (
        lambda: request_person_erasure(root, email=bob.email, confirm=bob.email),
        lambda: request_project_erasure(access, confirm=project.name),
    ):
        expires = timezone.now() + timedelta(hours=1)
        for state in (TeamExport.State.DONE, TeamExport.State.RUNNING):
            row = TeamExport.objects.create(team=team, state=state, expires_at=expires)
            export_file(row.pk).parent.mkdir(parents=True, exist_ok=True)
            export_file(row.pk).touch()
        job = run(erase())
        assert (job.state, TeamExport.objects.count(), job.report["files"] > 1) == ("done", 0, True)
        assert list(export_file("x").parent.iterdir()) == []


@pytest.mark.parametrize("scope", ["team", "session"])
def test_nobody_is_erased_out_of_what_is_held(
    bob: User, team: Team, project: Project, root: User, scope: str
) -> None:
    session = make_session(bob, project)
    Story(session, bob).ask("I am bob@example.com")
    what = session.pk if scope == "session" else ""
    hold = hold_named(root, scope=scope, what=what, reason="Case 4711, of court", team=team)
    Membership.objects.filter(user=bob).delete()
    record(AuditAction.MEMBER_LEFT, actor=bob, team=team)
    with pytest.raises(AppError, match="Case 4711"):
        request_person_erasure(root, email=bob.email, confirm=bob.email)
    other = make_user("dora@example.com")
    assert run(request_person_erasure(root, email=other.email, confirm=other.email)).ended_at
    release_hold(root, hold.pk)
    row = run(request_person_erasure(root, email=bob.email, confirm=bob.email))
    assert (row.state, row.problem) == ("done", "")


@pytest.mark.parametrize("name", ["text", "user", "stopped", "deny", "bash", "rm -rf", "Rm -Rf"])
def test_no_name_breaks_a_log_or_a_rule(
    alice: User, team: Team, project: Project, root: User, name: str
) -> None:
    denied = dict.fromkeys(("rm -rf *", "Rm -Rf *", "git push git@github.com:*"), "deny")
    rules: JsonObject = {"permission": {"bash": {**denied}}}
    team.config = rules
    team.save()
    rule = {"permission": "bash", "pattern": f"{name} *", "created_at": team.created_at}
    SavedRule.objects.create(project=project, **rule)
    session = make_session(alice, project)
    story = Story(session, alice)
    story.ask("text of a user")
    story.answer()
    story.done("bash", {"command": "rm -rf x"}, "stopped")
    Project.objects.update(git_url="git@github.com:acme/shop.git")
    person = make_user("git@github.com", name=name)
    stopped = Cause(TurnReason.STOPPED_BY, {"name": name})
    ended = SessionStatus(state="idle", outcome="stopped", by_id=person.pk)
    write(session, ended.saying(stopped))
    before = read_rows(session.pk)
    row = run(request_person_erasure(root, email=person.email, confirm=person.email))
    assert (row.state, row.problem) == ("done", "")
    team.refresh_from_db()
    assert (team.config, SavedRule.objects.get().pattern) == (rules, f"{name} *")
    after = read_rows(session.pk)
    told = after["Session"][session.pk]
    assert told.pop("outcome_reason")["values"] == {"name": row.pseudonym}
    assert told.pop("outcome_detail") == f"Stopped by {row.pseudonym}"
    for known in ("outcome_reason", "outcome_detail"):
        before["Session"][session.pk].pop(known)
    assert after == before
    assert rebuild_session(session.pk, write=False) == []
    assert Project.objects.get().git_url == "git@github.com:acme/shop.git"


def test_an_address_is_not_taken_for_the_end_of_another(
    alice: User, team: Team, root: User
) -> None:
    person = make_user("e@example.com")
    for user in (alice, person):
        record(AuditAction.MEMBER_JOINED, actor=root, team=team, data={"user": user.email})
    run(request_person_erasure(root, email=person.email, confirm=person.email))
    joined = AuditEntry.objects.filter(actor=root, team=team, action=AuditAction.MEMBER_JOINED)
    assert [one.names for one in joined.order_by("pk")] == [{"user": alice.email}, {}]


def test_a_long_session_is_erased_from_the_audit_log(alice: User, team: Team) -> None:
    ids = [f"prt_{number}" for number in range(300_000)]
    part = Part(pk=ids[-1])
    record(AuditAction.PART_EDITED, actor=alice, team=team, target=part, data={"file": "x"})
    assert erase_targets_in_audit(team, "part", ids) == 1


def test_what_stops_an_erasure_again_and_again_is_shown_until_it_is_done(
    alice: User, team: Team, project: Project, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = request_project_erasure(
        access_project(authenticate_user(alice), project.pk), confirm=project.name
    )

    def full(_team: Team) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/of-the-canary")

    with monkeypatch.context() as broken:
        broken.setattr(job, "forget_answers", full)
        with pytest.raises(OSError, match="No space"):
            job.run_erasure(row.pk)
    for user, url in ((alice, f"/erasures/{row.pk}"), (root, "/ops/erasures")):
        browser = Client()
        browser.force_login(user)
        page = " ".join(html.unescape(browser.get(url).text).split())
        assert "OSError: No space left on device" in page
        assert re.search("(failing|failed) since", page)
        assert "canary" not in page
    # Another worker takes it when the lease has ended.
    Erasure.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    done = run(row)
    assert (done.state, done.problem, done.failing_since) == ("done", "", None)


def test_what_a_broken_audit_log_keeps_is_all_that_is_left_on_disk(
    alice: User, team: Team, project: Project, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_broken(*_: object, **__: object) -> int:
        raise BrokenChain("entry 3 was changed")

    Story(make_session(alice, project), alice).ask(CANARY)
    Session.objects.update(state=State.IDLE)
    monkeypatch.setattr(job, "prune_entries", is_broken)
    row = run(request_team_erasure(None, team, confirm="acme"))
    assert row.state == "failed"
    assert row.problem.endswith("was not removed: entry 3 was changed")
    assert tables_with(CANARY) == set()
    assert database_files_with(CANARY) == []


def test_files_of_a_session_go_with_it(
    alice: User, project: Project, root: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    def work(name: str, args: tuple[Any, ...], **_: Any) -> None:
        if name == erase_files_here.name:
            erase_files_here(*args)

    monkeypatch.setattr(current_app, "send_task", work)
    session, other = make_session(alice, project), make_session(alice, project)
    below = make_session(alice, project, parent=session)
    files = [
        Path(settings.DATA_DIR, kind, one.pk, "canary")
        for kind in OF_SESSIONS
        for one in (session, below, other)
    ]
    for path in files:
        path.mkdir(parents=True)
    delete_session(session_access(alice, session))
    assert {path for path in files if path.exists()} == {
        path for path in files if path.parent.name == other.pk
    }
