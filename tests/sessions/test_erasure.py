from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.errors import AppError, Conflict, Forbidden, Invalid
from opencode_web.lib.reasons import Cause
from sessions.access import access_project
from sessions.actions.erasure import (
    request_person_erasure,
    request_project_erasure,
    request_team_erasure,
)
from sessions.actions.holds import hold_named
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.rebuild import rebuild_session
from sessions.actions.sessions import update_session
from sessions.events.reasons import TurnReason
from sessions.events.types import SessionStatus
from sessions.git.places import rescued_root, store_of
from sessions.git.project_folders import managed_home
from sessions.jobs.erasure import run_erasure
from sessions.models import AuditCursor, Message, OwnWebhook, Project, Session, State, Webhook
from teams.access import access_team
from teams.actions.idempotency import Attempt, KeptAnswer, claim_key, keep_answer
from teams.audit import AuditAction, record
from teams.audit_chain.verify import chains, verify_chain
from teams.auth import authenticate_user
from teams.models import (
    AuditEntry,
    Budget,
    BudgetRequest,
    Erasure,
    Membership,
    Role,
    Team,
    User,
)
from tests.factories import add_member, make_token, make_user
from tests.filled import fill
from tests.sessions.factories import INLINE, make_project, make_session, session_access
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary7f3a9tweet"
# What belongs to the server and not to a team, and so stays: with why it may hold such a text.
OF_THE_SERVER = {
    "agent_sessions_backup": "operators name the folder of a backup",
    "agent_sessions_pushkey": "a key",
    "agent_sessions_serverprocess": "names of processes",
    "agent_sessions_serversample": "numbers, some by the ids of teams; this one was filled by hand",
    "teams_announcement": "operators type it",
    "teams_allowedaddress": "operators type it",
    "teams_directorygroup": "of the company's directory, which names it",
    "teams_directorytoken": "operators name it",
    "teams_erasure": "has ids only; this one was filled by hand",
    "teams_failedattempt": "digests",
    "teams_formerkey": "a key",
    "teams_idempotencykey": "of a caller that has no account; gone after a day",
    "teams_identityprovider": "operators type it",
    "teams_auditentry": "of another chain; see below",
    "teams_audithead": "a number of a chain",
    "teams_signedhead": "signatures",
}


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", operator=True)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    settings.HOST_NAME = "local"
    return tmp_path / "data"


def tables_with(text: str) -> set[str]:
    """Every table of the database, whoever has made it, by any column, as bytes."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            for column in connection.introspection.get_table_description(cursor, table):
                name = f'"{column.name}"'
                is_there = (
                    f"strpos(lower({name}::text), %s) > 0"
                    if connection.vendor == "postgresql"
                    else f"instr(lower(CAST({name} AS TEXT)), %s)"
                    # The segments of the full-text index.
                    f" OR instr(CAST({name} AS BLOB), CAST(%s AS BLOB))"
                )
                cursor.execute(
                    f'SELECT 1 FROM "{table}" WHERE {is_there} LIMIT 1',
                    [text.lower()] * is_there.count("%s"),
                )
                if cursor.fetchone():
                    found.add(table)
    return found


def files_with(text: str, *roots: Path) -> set[str]:
    found = set()
    for top in roots:
        for folder, _, names in os.walk(top):
            found |= {name for name in (folder, *names) if text in name}
            for name in names:
                if text.encode() in Path(folder, name).read_bytes():
                    found.add(str(Path(folder, name)))
    return found


def fill_with_canary() -> Team:
    """A row in every table with the canary in every text and JSON. Returns: the team of them."""
    made = fill(text=CANARY)
    for model, row in made.items():
        if model is AuditEntry:
            continue
        values = {
            one.name: {"note": CANARY}
            for one in model._meta.concrete_fields
            # Lists are of things that are read on the way.
            if isinstance(one, models.JSONField) and getattr(row, one.name) == {}
        }
        if values:
            model._base_manager.filter(pk=row.pk).update(**values)
        for one in model._meta.concrete_fields:
            # Of the team, where a row need not be of one.
            if one.related_model is Team and one.null and getattr(row, one.attname) is None:
                with contextlib.suppress(IntegrityError), transaction.atomic():
                    model._base_manager.filter(pk=row.pk).update(**{one.name: made[Team]})
    team = made[Team]
    assert isinstance(team, Team)
    AuditCursor.objects.update(chain=team.pk)
    return team


def make_traces(alice: User, team: Team, data: Path) -> Project:
    """A project of the server's own, with a canary everywhere that people and agents write to."""
    project = make_project(team, managed_home("prj_acme_canary") / CANARY, name="canary")
    Project.objects.filter(pk=project.pk).update(source=Project.Source.EMPTY)
    project.refresh_from_db()
    Path(project.directory, "secret.txt").write_text(CANARY)
    session = make_session(alice, project, title=CANARY)
    draft = PromptDraft(
        parts=[
            {"type": "text", "text": f"find {CANARY}"},
            {
                "type": "file",
                "mime": "text/plain",
                "filename": f"{CANARY}.txt",
                "url": "data:text/plain;base64,eA==",
            },
        ],
        model=INLINE,
    )
    hook = Webhook.objects.create(
        id="whk_1", team=team, url="https://x.example", events=["session.idle"], secret="s"
    )
    assert hook.pk
    admit_prompt(session_access(alice, session), draft)
    story = Story(session, alice)
    story.ask(CANARY)
    story.answer()
    story.done("bash", {"command": f"echo {CANARY}"}, CANARY)
    write(session, SessionStatus(state="idle", outcome="failed", detail=CANARY))
    update_session(session_access(alice, session), title=f"{CANARY} again")
    budget = Budget.objects.create(team=team, scope=Budget.Scope.TEAM, amount=1)
    asked = {"team": team, "asker": alice, "session": session.pk, "amount": 1, "reason": CANARY}
    BudgetRequest.objects.create(budget=budget, start=timezone.now().date(), **asked)
    Session.objects.update(state=State.IDLE)
    for path in (
        data / "tool-output" / session.pk / "tool_1",
        data / "sessions" / session.pk / "home" / "notes",
        data / "snapshots" / project.pk / "objects" / "loose",
        data / "snapshots" / session.pk / "index",
        data / "code" / project.pk / "x" / "index",
        store_of(project.pk) / "objects" / "loose",
        rescued_root() / f"{project.pk}.git" / "packed",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CANARY)
    record(
        AuditAction.FILE_EDITED,
        actor=alice,
        team=team,
        target=session,
        data={"file": f"{CANARY}.py"},
    )
    return project


def run(row: Erasure) -> Erasure:
    run_erasure(row.pk)
    row.refresh_from_db()
    return row


def database_file() -> Path:
    return Path(str(connection.settings_dict["NAME"]))


def database_files_with(text: str) -> list[Path]:
    """Those of SQLite."""
    if connection.vendor != "sqlite":
        return []
    files = database_file().parent.glob(f"*{database_file().name}*")
    return [path for path in files if text.encode() in path.read_bytes()]


@pytest.mark.deep
def test_nothing_of_an_erased_team_is_left_anywhere(
    alice: User, bob: User, team: Team, data: Path, tmp_path: Path
) -> None:
    make_traces(alice, team, data)
    if connection.vendor == "sqlite":
        # Of a backup that was killed.
        copy = database_file().with_name(f".backup-{database_file().name}")
        copy.write_bytes(database_file().read_bytes())
    before = tables_with(CANARY)
    assert {"agent_sessions_event", "agent_sessions_part", "teams_auditentry"} <= before
    assert len(files_with(CANARY, tmp_path)) > 5
    row = run(request_team_erasure(access_team(alice, team.pk), team, confirm="acme"))
    assert (row.state, row.problem) == ("done", "")
    assert tables_with(CANARY) == set()
    assert files_with(CANARY, tmp_path) == set()
    assert database_files_with(CANARY) == []
    assert not AuditEntry.objects.filter(team=team.pk).exists()
    assert {verify_chain(chain).problem for chain in chains()} == {""}
    assert row.report["sessions"] == row.report["projects"] == 1


@pytest.mark.deep
def test_no_table_is_forgotten_when_a_team_is_erased(db: None) -> None:
    team = fill_with_canary()
    assert len(tables_with(CANARY)) > 50
    run(request_team_erasure(None, team, confirm=team.slug))
    assert not Team.objects.filter(pk=team.pk).exists()
    assert tables_with(CANARY) == set(OF_THE_SERVER)


def test_of_an_erased_project_the_audit_log_keeps_no_word_and_still_verifies(
    alice: User, team: Team, data: Path, tmp_path: Path
) -> None:
    project = make_traces(alice, team, data)
    other = make_session(alice, make_project(team, tmp_path / "other", name="other"), title="kept")
    access = access_project(authenticate_user(alice), project.pk)
    with pytest.raises(Invalid, match="canary"):
        request_project_erasure(access, confirm="no")
    attempt = claim_key(f"user:{alice.pk}", key="k", digest="d")
    assert isinstance(attempt, Attempt)
    said = {"status": 200, "content_type": "text/plain", "body": CANARY.encode()}
    keep_answer(attempt, secret=False, **said)
    row = run(request_project_erasure(access, confirm="canary"))
    assert (row.state, row.problem) == ("done", "")
    kept = claim_key(f"user:{alice.pk}", key="k", digest="d")
    assert kept == KeptAnswer(200, "text/plain", b"", "what it said was erased")
    assert tables_with(CANARY) == set()
    assert files_with(CANARY, tmp_path) == set()
    assert Session.objects.get() == other
    edited = AuditEntry.objects.get(action=AuditAction.FILE_EDITED)
    assert (edited.actor, edited.names, edited.actor_email) == (alice, {}, "")
    assert AuditEntry.objects.get(action="session.created", target_id=other.pk).actor_email
    report = verify_chain(team.pk)
    assert report.problem == ""
    assert report.erased > 0


@pytest.mark.deep
def test_of_an_erased_person_only_a_pseudonym_is_left(
    alice: User, team: Team, project: Project, root: User, data: Path
) -> None:
    person = make_user("zoe.quark@example.com", name="Zoe Quark")
    person.preferences = {"note": "zoe.quark@example.com"}
    person.save()
    add_member(team, person, Role.MEMBER)
    make_token(person, team)
    session = make_session(
        person, project, title="for ZOE.QUARK@example.com, not zoe.quark@example.com.au"
    )
    story = Story(session, person)
    story.ask("I am Zoe Quark, also called @zoe-Quark")
    OwnWebhook.objects.create(user=person, url="https://hooks.example.com/zoe", secret="s")
    story.answer()
    story.done("grep", {"pattern": "Zoe Quark"}, "zoe.py: Zoe Quark")
    stopped = Cause(TurnReason.REJECTED, {"name": "Zoe Quark"})
    write(session, SessionStatus(state="idle", outcome="stopped", by_id=person.pk).saying(stopped))
    record(
        AuditAction.USER_RENAMED, actor=root, team=None, target=person, data={"name": "Zoe Quark"}
    )
    record(AuditAction.MEMBER_JOINED, actor=alice, team=team, data={"user": person.email})
    with pytest.raises(Forbidden):
        request_person_erasure(alice, email=person.email, confirm=person.email)
    row = run(request_person_erasure(root, email=person.email, confirm=person.email))
    assert (row.state, row.problem) == ("done", "")
    assert tables_with("Zoe Quark") == tables_with("@Zoe-Quark") == set()
    assert not OwnWebhook.objects.exists()
    assert tables_with("zoe.quark@example.com") == {
        "agent_sessions_event",
        "agent_sessions_session",
    }
    session.refresh_from_db()
    assert session.title == (f"for {row.pseudonym}@erased.invalid, not zoe.quark@example.com.au")
    assert session.outcome_detail == f"Rejected by {row.pseudonym}"
    person.refresh_from_db()
    assert (person.name, person.is_active, person.preferences) == (row.pseudonym, False, {})
    assert Message.objects.get(session=session, role="user").author == person
    assert not Membership.objects.filter(user=person).exists()
    assert rebuild_session(session.pk, write=False) == []
    assert {verify_chain(chain).problem for chain in chains()} == {""}
    mine = AuditEntry.objects.filter(actor=person)
    assert {one.actor_email for one in mine} == {row.pseudonym}


def test_a_name_of_one_word_leaves_other_texts_alone(
    alice: User, team: Team, project: Project, root: User
) -> None:
    will = make_user("will@example.com", name="Will")
    add_member(team, will, Role.MEMBER)
    session = make_session(will, project, title="Will this work?")
    stopped = Cause(TurnReason.REJECTED, {"name": "Will"})
    Story(session, will).ask("Will it?")
    write(session, SessionStatus(state="idle", outcome="stopped", by_id=will.pk).saying(stopped))
    row = run(request_person_erasure(root, email=will.email, confirm=will.email))
    session.refresh_from_db()
    assert session.title == "Will this work?"
    assert "Will" not in session.outcome_detail
    assert row.pseudonym in session.outcome_detail
    assert rebuild_session(session.pk, write=False) == []


def test_what_is_held_owned_by_one_or_running_is_not_erased(
    alice: User, bob: User, team: Team, project: Project, session: Session, root: User
) -> None:
    owner = access_team(alice, team.pk)
    with pytest.raises(Conflict, match="needs an owner"):
        request_person_erasure(root, email=alice.email, confirm=alice.email)
    with pytest.raises(Forbidden, match="Another operator"):
        request_person_erasure(root, email=root.email, confirm=root.email)
    Session.objects.update(state=State.BUSY)
    with pytest.raises(Conflict, match="running"):
        request_team_erasure(owner, team, confirm="acme")
    Session.objects.update(state=State.IDLE)
    waiting = request_person_erasure(root, email=bob.email, confirm=bob.email)
    with pytest.raises(Conflict, match="already"):
        request_person_erasure(root, email=bob.email, confirm=bob.email)
    hold = hold_named(root, scope="person", what=bob.email, reason="Case 4711, of court", team=None)
    assert hold.pk
    assert run(waiting).state == "failed"
    assert "Case 4711" in waiting.problem
    bob.refresh_from_db()
    assert (bob.email, bob.is_active) == ("bob@example.com", True)
    for attempt in (
        lambda: request_person_erasure(root, email=bob.email, confirm=bob.email),
        lambda: request_team_erasure(root, team, confirm="acme"),
    ):
        with pytest.raises(AppError, match="legal hold"):
            attempt()
    with pytest.raises(Forbidden):
        request_team_erasure(bob, team, confirm="acme")


def test_the_pages_begin_an_erasure_and_tell_who_may_know_how_it_went(
    alice: User, bob: User, team: Team, project: Project, root: User, client: Client
) -> None:
    client.force_login(alice)
    url = "/t/acme/settings/erase"
    assert project.name in client.get(url).content.decode()
    assert client.post(url, {"what": project.pk, "confirm": "x"}).status_code == 422
    answer = client.post(url, {"what": project.pk, "confirm": project.name})
    page = answer["Location"]
    assert "every 2s" in client.get(page).content.decode()
    run_erasure(Erasure.objects.get().pk)
    shown = client.get(page).content.decode()
    assert "Erased for good" in shown
    assert "brought by the team" in shown
    assert Path(project.directory).is_dir()
    client.force_login(bob)
    assert client.get(page).status_code == 404
    client.force_login(root)
    assert client.get(page).status_code == 200
    form = {"kind": "person", "what": bob.email, "confirm": bob.email}
    assert client.post("/ops/erasures", form).status_code == 302
    call_command("erase", "team", "acme", confirm="acme", stdout=io.StringIO())
    assert not Team.objects.exists()
    shown = client.get("/ops/erasures").content.decode()
    assert shown.count("/erasures/era_") == 3
