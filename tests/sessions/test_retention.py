from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.errors import AppError, Forbidden, Invalid, NotFound
from sessions.access import access_project
from sessions.actions.drafts import prune_drafts
from sessions.actions.holds import hold_named
from sessions.actions.projects import delete_project
from sessions.actions.retention import apply_retention
from sessions.actions.sessions import delete_session
from sessions.jobs.snapshot_pruning import live_trees
from sessions.jobs.sweep import sweep_files
from sessions.models import (
    AuditCursor,
    KeptDraft,
    Part,
    PermissionRequest,
    Project,
    QuestionRequest,
    Session,
    State,
    Webhook,
)
from sessions.retention.due import preview
from sessions.retention.holds import without_held
from teams.access import access_team
from teams.actions.holds import release_hold
from teams.actions.retention import set_retention, set_retention_limit
from teams.actions.teams import delete_team
from teams.audit import AuditAction, record
from teams.audit_chain.verify import verify_chain
from teams.auth import authenticate_user
from teams.models import SERVER_CHAIN, AuditEntry, LegalHold, Team, User
from teams.retention.days import Days, days_in_force
from teams.retention.holds import Held
from tests.factories import make_team, make_user
from tests.sessions.factories import make_project, make_session, prompt, session_access
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "Case 4711, asked for by the court"


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", operator=True)


def idle_for(session: Session, days: float) -> Session:
    Session.objects.filter(pk=session.pk).update(active_at=timezone.now() - timedelta(days=days))
    return session


ClientFor = Callable[[User | None], Client]


def keep(alice: User, team: Team, **days: int | None) -> None:
    set_retention(access_team(alice, team.pk), Days(**days))


def test_only_what_is_old_at_rest_and_not_held_goes(
    alice: User, bob: User, team: Team, project: Project
) -> None:
    old, young, busy, lively, held, asked = (
        idle_for(make_session(alice, project, title=name), days)
        for name, days in (
            *(("old", 31), ("young", 29), ("busy", 40), ("lively", 40)),
            *(("held", 90), ("asked by bob", 90)),
        )
    )
    child = idle_for(make_session(alice, project, parent=old), 31)
    make_session(alice, project, parent=lively)
    Session.objects.filter(pk=busy.pk).update(state=State.BUSY)
    prompt(bob, asked, "mine")
    idle_for(asked, 90)
    owner = access_team(alice, team.pk)
    hold_named(owner, scope="session", what=f"/t/acme/s/{held.pk}", reason=WHY, team=team)
    hold_named(owner, scope="person", what="BOB@example.com", reason=WHY, team=team)
    apply_retention()
    assert Session.objects.count() == 8
    keep(alice, team, sessions=30)
    assert preview(team, Days(sessions=30)).titles == ["old"]
    assert apply_retention().sessions == 1
    left = set(Session.objects.values_list("title", flat=True))
    assert not Session.objects.filter(pk__in=[old.pk, child.pk]).exists()
    assert {young.title, busy.title, lively.title, held.title, asked.title} <= left
    entry = AuditEntry.objects.get(action=AuditAction.SESSION_EXPIRED)
    assert (entry.actor_email, entry.target_id, entry.told["days"]) == ("", old.pk, 30)


def test_what_is_saved_unchanged_is_no_change(alice: User, team: Team) -> None:
    for days in (Days(30, 7, None), Days(30, 7, None), Days(20, 7, None)):
        set_retention(access_team(alice, "acme"), days)
    told = AuditEntry.objects.filter(action="retention.changed").order_by("pk")
    assert [row.data["after"]["sessions"] for row in told] == [30, 20]


def test_who_shortens_the_audit_log_is_in_that_of_the_server(alice: User, team: Team) -> None:
    for days in (Days(), Days(audit=30)):
        set_retention(access_team(alice, "acme"), days)
    told = AuditEntry.objects.filter(action="retention.changed", team=None)
    assert [(row.actor, row.target_id, row.data["after"]["audit"]) for row in told] == [
        (alice, team.pk, 30)
    ]


def test_no_audit_log_is_kept_for_less_than_the_server_wants(
    alice: User, team: Team, root: User, settings: Settings, client_for: ClientFor
) -> None:
    sent = client_for(alice).post("/t/acme/settings/retention", {"audit": "29"})
    assert sent.status_code == 422
    assert "audit logs are kept for at least 30 days" in sent.content.decode()
    with pytest.raises(Invalid, match="at least 30"):
        set_retention_limit(root, Days(audit=29))
    settings.AUDIT_MIN_DAYS = 5
    set_retention_limit(root, Days(audit=20))
    keep(alice, team, audit=5)
    assert days_in_force(team) == Days(audit=5)
    settings.AUDIT_MIN_DAYS = 30
    assert days_in_force(team) == Days(audit=30)


def test_operators_bound_what_teams_keep(alice: User, team: Team, root: User) -> None:
    set_retention_limit(root, Days(sessions=90))
    assert days_in_force(team) == Days(sessions=90, outputs=7)
    for days in (Days(), Days(sessions=91)):
        with pytest.raises(Invalid, match="at most 90"):
            set_retention(access_team(alice, team.pk), days)
    keep(alice, team, sessions=10, outputs=None)
    assert days_in_force(team) == Days(sessions=10)
    with pytest.raises(Forbidden):
        set_retention_limit(alice, Days())
    for wrong in (0, 99_999):
        with pytest.raises(Invalid, match="1 to"):
            keep(alice, team, sessions=10, audit=wrong)


def test_outputs_go_by_the_days_of_their_team_and_stay_under_a_hold(
    alice: User, team: Team, project: Project, session: Session, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    child = make_session(alice, project, parent=session)
    free = make_session(alice, project)
    files = []
    for one in (session, child, free):
        files.append(settings.DATA_DIR / "tool-output" / one.pk / "tool_1")
        files[-1].parent.mkdir(parents=True)
        files[-1].write_text("whole")
        os.utime(files[-1], (time.time() - 3 * 86_400,) * 2)
    keep(alice, team, outputs=None)
    sweep_files()
    assert all(path.exists() for path in files)
    keep(alice, team, outputs=2)
    hold = hold_named(
        access_team(alice, team.pk), scope="session", what=child.pk, reason=WHY, team=team
    )
    assert hold.session == session.pk
    assert preview(team, Days(outputs=2)).outputs.files == 1
    sweep_files()
    assert [path.exists() for path in files] == [True, True, False]


def test_an_audit_log_that_is_cut_still_verifies_from_its_checkpoint(
    alice: User, bob: User, team: Team, root: User
) -> None:
    for _ in range(3):
        record(AuditAction.TEAM_RENAMED, actor=alice, team=team)
    before = AuditEntry.objects.filter(team=team).count()
    keep(alice, team, audit=30)
    assert apply_retention().entries == 0
    moment = timezone.now() + timedelta(days=32)
    hold = hold_named(root, scope="person", what=bob.email, reason=WHY, team=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: moment)
        record(AuditAction.TEAM_RENAMED, actor=bob, team=team)
        hook = Webhook.objects.create(
            id="whk_1", team=team, url="https://x.example", events=["audit.entry"]
        )
        cursor = AuditCursor.objects.create(stream=hook.pk, chain=team.pk, seq=2)
        # A stream that is behind would lose them.
        assert apply_retention().entries == 2
        cursor.seq = 99
        cursor.save()
        # `fixture` made bob join, which nobody did as bob.
        assert apply_retention().entries == before - 1
        assert apply_retention().entries == 0
        # Nor does the command for it remove what is held.
        left = AuditEntry.objects.filter(team=team).count()
        tomorrow = f"{moment + timedelta(days=1):%Y-%m-%d}"
        call_command("audit", "prune", "--before", tomorrow, "--team", "acme", stdout=io.StringIO())
        assert AuditEntry.objects.filter(team=team).count() == left
        report = verify_chain(team.pk)
        assert (report.problem, report.entries) == ("", report.seq - before - 1)
        # The server's own log goes by the limit of the operators.
        assert not AuditEntry.objects.filter(action=AuditAction.AUDIT_PRUNED, team=None).exists()
        set_retention_limit(root, Days(audit=31))
        # Who set the hold, and who cut the team's.
        assert apply_retention().entries == 2
        assert verify_chain(SERVER_CHAIN).problem == ""
    release_hold(root, hold.pk)


def test_a_hold_beats_every_deletion_by_people(
    alice: User, bob: User, team: Team, project: Project, session: Session, root: User
) -> None:
    child = make_session(alice, project, parent=session)
    owner = access_team(alice, team.pk)
    projects = access_project(authenticate_user(alice), project.pk)
    Story(session, bob).ask("of bob")
    Session.objects.update(state=State.IDLE)
    attempts = (
        lambda: delete_session(session_access(alice, session)),
        lambda: delete_session(session_access(alice, child)),
        lambda: delete_project(projects),
        lambda: delete_team(team, actor=alice, confirm=team.slug),
    )
    named = (
        (owner, "team", "", team),
        (owner, "session", child.pk, team),
        (owner, "person", bob.email, team),
        (root, "person", bob.email, None),
    )
    for actor, scope, what, of_team in named:
        hold = hold_named(actor, scope=scope, what=what, reason=WHY, team=of_team)
        for attempt in attempts:
            with pytest.raises(Held, match=r"Alice|Root") as refused:
                attempt()
            assert WHY in refused.value.message
        release_hold(actor, hold.pk)
    actions = AuditEntry.objects.filter(action__startswith="hold.").values_list("action", flat=True)
    assert sorted(actions) == ["hold.released"] * 4 + ["hold.set"] * 4
    for attempt in attempts[1:]:
        attempt()
    assert not Team.objects.filter(pk=team.pk).exists()


def test_a_held_session_keeps_its_snapshots(
    alice: User, team: Team, session: Session, settings: Settings
) -> None:
    settings.SNAPSHOT_DAYS = 1
    tree = "a" * 40
    story = Story(session, alice)
    message = story.ask("x")
    Part.objects.create(
        id="prt_x",
        message_id=message,
        session=session,
        type="step-start",
        seq=9,
        data={"snapshot": tree},
    )
    long_ago = timezone.now() - timedelta(days=9)
    Session.objects.filter(pk=session.pk).update(updated_at=long_ago, state=State.IDLE)
    assert live_trees(session.project_id) == set()
    hold_named(access_team(alice, team.pk), scope="team", what="", reason=WHY, team=team)
    assert live_trees(session.project_id) == {tree}


@pytest.mark.parametrize("model", [PermissionRequest, QuestionRequest])
def test_who_has_answered_in_a_session_took_part_in_it(
    alice: User, bob: User, team: Team, session: Session, root: User, model: type[Any]
) -> None:
    child = make_session(alice, session.project, parent=session)
    Session.objects.update(state=State.IDLE)
    model.objects.create(id="x_1", session=child, replied_by=bob, created_at=timezone.now())
    hold_named(root, scope="person", what=bob.email, reason=WHY, team=None)
    assert without_held(Session.objects.filter(pk=session.pk), team).count() == 0
    with pytest.raises(Held):
        delete_session(session_access(alice, session))


def test_held_drafts_stay(
    alice: User, bob: User, team: Team, session: Session, project: Project, root: User,
    tmp_path: Path,
) -> None:  # fmt: skip
    below = make_session(alice, project, parent=session)
    elsewhere = make_project(make_team(bob, name="Other", slug="other"), tmp_path / "elsewhere")
    long_ago = timezone.now() - timedelta(days=99)
    for user, where, place in (
        (alice, project, session),
        (alice, project, below),
        (bob, project, None),
        (bob, elsewhere, None),
    ):
        KeptDraft.objects.create(
            user=user, project=where, session=place, typed_at=long_ago, saved_at=long_ago
        )
    for scope, what, of, kept in (
        ("team", "", team, 3),
        ("session", session.pk, team, 2),
        ("person", bob.email, team, 1),
        ("person", bob.email, None, 2),
    ):
        hold = hold_named(root, scope=scope, what=what, reason=WHY, team=of)
        with transaction.atomic():
            prune_drafts()
            assert (scope, KeptDraft.objects.count()) == (scope, kept)
            transaction.set_rollback(True)
        release_hold(root, hold.pk)
    assert prune_drafts() == 4


def test_only_owners_and_operators_hold_and_only_what_is_theirs(
    alice: User, adam: User, charlie: User, team: Team, session: Session, root: User
) -> None:
    globex = Team.objects.get(slug="globex")
    owner, other = access_team(alice, team.pk), access_team(charlie, globex.pk)
    refused = (
        (access_team(adam, team.pk), "team", "", team, Forbidden),
        (alice, "team", "", team, Forbidden),
        (owner, "team", "", globex, Forbidden),
        (owner, "person", "nobody@example.com", team, Invalid),
        # An account, but never in this team.
        (owner, "person", charlie.email, team, Invalid),
        (other, "session", session.pk, globex, Invalid),
        (root, "team", "", None, Invalid),
    )
    for actor, scope, what, of_team, error in refused:
        with pytest.raises(error):
            hold_named(actor, scope=scope, what=what, reason=WHY, team=of_team)
    with pytest.raises(Invalid, match="10"):
        hold_named(owner, scope="team", what="", reason="why", team=team)
    of_server = hold_named(root, scope="person", what=alice.email, reason=WHY, team=None)
    own = hold_named(owner, scope="team", what="", reason=WHY, team=team)
    with pytest.raises(AppError, match="already"):
        hold_named(root, scope="team", what="", reason=WHY, team=team)
    for access, hold in ((owner, of_server), (other, own)):
        with pytest.raises(NotFound):
            release_hold(access, hold.pk)
    release_hold(root, own.pk)
    assert LegalHold.objects.live().get() == of_server


def test_the_pages_preview_save_and_hold(
    alice: User, team: Team, project: Project, root: User, client: Client
) -> None:
    idle_for(make_session(alice, project, title="<b>long ago</b>"), 50)
    client.force_login(alice)
    url = "/t/acme/settings/retention"
    shown = client.post(url, {"sessions": "30", "preview": "1"}).content.decode()
    assert "Not saved yet" in shown
    assert "&lt;b&gt;long ago" in shown
    assert days_in_force(team) == Days(outputs=7)
    assert client.post(url, {"sessions": "0"}).status_code == 422
    assert client.post(url, {"sessions": "30"}).status_code == 302
    assert days_in_force(team) == Days(sessions=30)
    form = {"scope": "team", "what": "", "reason": WHY}
    assert client.post("/t/acme/settings/holds", form).status_code == 302
    assert WHY in client.get(url).content.decode()
    client.force_login(root)
    assert WHY in client.get("/ops/retention").content.decode()
    assert client.post("/ops/retention", {"sessions": "20"}).status_code == 302
    assert days_in_force(team) == Days(sessions=20)
    hold = LegalHold.objects.get()
    assert client.post(f"/ops/holds/{hold.pk}/release").status_code == 302
    assert client.post("/ops/holds", {**form, "team": team.pk}).status_code == 302
    assert LegalHold.objects.live().count() == 1
