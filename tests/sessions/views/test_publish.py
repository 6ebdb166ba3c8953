from __future__ import annotations

import asyncio
import base64
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from opencode_web.lib.crypto import encrypt
from sessions.actions.checkouts import Plan
from sessions.checkouts.jobs import run_job
from sessions.forges.adapter import Kind
from sessions.models import Checkout, Project, ProjectForge, PullRequest, Session
from sessions.runner import run_session
from teams.models import AuditEntry, User
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.git_server import git_server
from tests.sessions.runner.drains import allow_bash

ClientFor = Callable[[User | None], Client]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.GIT_ALLOW_FILE = True
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    return Path(project.directory)


@pytest.fixture
def bare(shop: Path, project: Project, tmp_path: Path) -> Path:
    run(f"git init -q --bare -b main {tmp_path}/acme/till.git", tmp_path)
    path = tmp_path / "acme" / "till.git"
    run(f"git push -q {path} main", shop)
    project.git_url = f"file://{path}"
    project.save()
    return path


def worked(alice: User, project: Project, command: str, **fields: Any) -> Session:
    session = make_session(alice, project, title="Mend the till", **fields)
    allow_bash(session)
    call = {"tool": "bash", "input": {"command": command, "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))
    return session


@pytest.fixture
def own(alice: User, project: Project, shop: Path) -> Session:
    return worked(alice, project, "echo 1 >new; rm d/f; echo x >>till.py", checkout=Plan())


@pytest.fixture
def shared(alice: User, project: Project, shop: Path) -> Session:
    return worked(alice, project, "echo 1 >new; echo x >>till.py")


class Panel:
    """The panel of a session, as a person uses it without JavaScript."""

    def __init__(self, browser: Client, session: Session) -> None:
        self.browser, self.session = browser, session
        self.url = f"/t/acme/s/{session.pk}/publish"

    @property
    def row(self) -> Checkout:
        return Checkout.objects.get(pk=self.session.pk if self.session.folder else self.project)

    @property
    def project(self) -> str:
        return self.session.project_id

    def show(self) -> str:
        """Read the page, have the worker look, read it again."""
        self.browser.get(self.url)
        asyncio.run(run_job(self.row.pk))
        return html.unescape(self.browser.get(f"{self.url}?poll=1").content.decode())

    def do(self, act: str, **fields: Any) -> Checkout:
        answer = self.browser.post(f"{self.url}/{act}", fields)
        assert answer.status_code == 302, html.unescape(answer.content.decode())
        asyncio.run(run_job(self.row.pk))
        return self.row

    def refused(self, act: str, **fields: Any) -> str:
        answer = self.browser.post(f"{self.url}/{act}", fields)
        assert answer.status_code == 422
        shown = html.unescape(answer.content.decode())
        (said,) = re.findall(r'role="alert">.*?<span>(.*?)</span>', shown)[:1]
        return str(said)


def forms_of(shown: str) -> set[str]:
    return set(re.findall(r'action="[^"]*/publish/(\w+)"', shown))


def test_it_commits_in_the_name_of_who_asks_with_the_agent_as_co_author(
    browser: Client, own: Session, alice: User
) -> None:
    panel = Panel(browser, own)
    assert "Not looked at yet" in browser.get(panel.url).content.decode()
    shown = panel.show()
    assert f"{panel.row.branch}</span>" in shown
    assert "3 files" in shown
    assert ">Mend the till</textarea>" in shown
    assert forms_of(shown) == {"commit", "push", "switch", "rename"}
    row = panel.do("commit", message="Mend\r\n\r\nit", which="all")
    assert not row.job_failed, row.job_detail
    folder = Path(own.folder)
    said = run("git log -1 --format='%an <%ae>%n%B'", folder).strip().splitlines()
    assert said[0] == f"{alice.display_name} <{alice.email}>"
    assert said[1:4] == ["Mend", "", "it"]
    assert re.fullmatch(r"Co-authored-by: build \(.+\) <opencode-web@localhost>", said[-1])
    assert run("git status --porcelain", folder) == ""
    shown = panel.show()
    assert "Committed" in shown
    assert "commit" not in forms_of(shown)
    entry = AuditEntry.objects.get(action="checkout.committed")
    assert entry.actor == alice


def test_it_commits_chosen_files_only(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    run("git add till.py", Path(own.folder))
    row = panel.do("commit", message="Some", which="some", path=["new", "d/f"])
    assert not row.job_failed, row.job_detail
    assert run("git show --name-status --format= HEAD", Path(own.folder)) == "D\td/f\nA\tnew\n"
    assert run("git status --porcelain", Path(own.folder)) == "M  till.py\n"
    row = panel.do("commit", message="Again", which="some", path=["new"])
    assert row.job_failed
    assert "no changes any more: new" in row.job_detail
    assert "at least one file" in panel.refused("commit", message="None", which="some")


def test_what_git_would_take_for_a_pattern_or_an_option_is_a_name(
    browser: Client, alice: User, project: Project, shop: Path
) -> None:
    command = "echo 1 >'*.py'; echo 2 >--all; echo 3 >':(top)x'; echo x >>till.py"
    session = worked(alice, project, command, checkout=Plan())
    panel = Panel(browser, session)
    panel.show()
    row = panel.do("commit", message="-m x", which="some", path=["*.py", "--all", ":(top)x"])
    assert not row.job_failed, row.job_detail
    folder = Path(session.folder)
    named = run("git show --name-only --format= HEAD", folder).split()
    assert sorted(named) == ["*.py", "--all", ":(top)x"]
    assert run("git log -1 --format=%s", folder) == "-m x\n"


def test_a_click_that_comes_twice_commits_once(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    key = {"key": "msg_1-c", "message": "Once", "which": "all"}
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    asyncio.run(run_job(own.pk))
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    assert panel.row.job == ""
    assert AuditEntry.objects.filter(action="checkout.committed").count() == 1


def test_nothing_is_committed_while_a_turn_is_at_work(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    Session.objects.filter(pk=own.pk).update(state="busy")
    assert "Stop it first" in panel.refused("commit", message="No", which="all")
    assert "Stop it first" in panel.refused("push", url="https://git.example.com/a/b.git")


def test_what_was_typed_stays_when_it_is_refused(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    answer = browser.post(f"{panel.url}/commit", {"message": "Kept", "which": "some", "path": []})
    assert "Kept</textarea>" in answer.content.decode()
    assert "cannot be the name of a branch" in panel.refused("switch", name="-x")


def test_hooks_of_the_repository_do_not_run(browser: Client, own: Session) -> None:
    folder = Path(own.folder)
    hook = "printf '#!/bin/sh\\ntouch hooked\\nexit 1\\n'"
    run(f"mkdir -p .git/hooks; {hook} >.git/hooks/pre-commit", folder)
    run("cp .git/hooks/pre-commit .git/hooks/commit-msg; chmod +x .git/hooks/*", folder)
    panel = Panel(browser, own)
    panel.show()
    assert not panel.do("commit", message="Fine", which="all").job_failed
    assert not (folder / "hooked").exists()


def test_it_commits_in_the_projects_own_folder_with_a_warning(
    browser: Client, shared: Session, shop: Path
) -> None:
    panel = Panel(browser, shared)
    run("echo mine >theirs", shop)
    shown = panel.show()
    assert "Changes of other people and sessions may be among these files" in shown
    assert "rename" not in forms_of(shown)
    assert 'value="theirs"' in shown
    row = panel.do("commit", message="Mend", which="some", path=["new", "till.py"])
    assert not row.job_failed, row.job_detail
    assert run("git status --porcelain", shop) == "?? theirs\n"
    assert "not renamed here" in panel.refused("rename", name="other")
    assert not panel.do("switch", name="feature/x").job_failed
    assert run("git branch --show-current", shop) == "feature/x\n"


def test_only_its_own_changes_are_ticked_in_the_projects_own_folder(
    browser: Client, shared: Session, shop: Path
) -> None:
    panel = Panel(browser, shared)
    run("echo mine >theirs", shop)
    shown = panel.show()
    ticks = dict(re.findall(r'name="path" value="([^"]+)"( checked)?', shown))
    assert ticks == {"new": " checked", "till.py": " checked", "theirs": ""}
    assert 'value="theirs"' in shown.split("Changed by others")[1]


def test_a_session_beside_it_is_waited_for_in_the_projects_folder(
    browser: Client, shared: Session, alice: User, project: Project
) -> None:
    panel = Panel(browser, shared)
    panel.show()
    other = make_session(alice, project)
    Session.objects.filter(pk=other.pk).update(state="busy")
    said = panel.refused("commit", message="No", which="all")
    assert "A session works in the project's folder" in said


def test_it_makes_and_renames_branches(browser: Client, own: Session, shop: Path) -> None:
    folder, panel = Path(own.folder), Panel(browser, own)
    panel.show()
    first = panel.row.branch
    row = panel.do("rename", name="feature/till")
    assert not row.job_failed, row.job_detail
    assert row.branch == "feature/till"
    assert run("git branch --format='%(refname:short)'", folder) == "feature/till\nmain\n"
    assert panel.do("switch", name="second").branch == "second"
    assert run("git branch --format='%(refname:short)'", folder) == "feature/till\nmain\nsecond\n"
    row = panel.do("switch", name="main")
    assert row.job_failed
    assert "There is a branch main already" in row.job_detail
    assert row.branch == "second"
    for bad in ("-x", "a..b", "a b", "HEAD", "a\nb", "x.lock", "@{u}", ""):
        assert "cannot be the name of a branch" in panel.refused("rename", name=bad)
    assert first != "second"


def test_it_pushes_and_says_what_is_left(browser: Client, own: Session, bare: Path) -> None:
    panel = Panel(browser, own)
    assert "not pushed yet" in panel.show()
    panel.do("commit", message="One", which="all")
    row = panel.do("push")
    assert not row.job_failed, row.job_detail
    assert run("git log -1 --format=%s " + row.branch, bare) == "One\n"
    assert "up to date" in panel.show()
    run("echo 2 >>new", Path(own.folder))
    panel.show()
    panel.do("commit", message="Two", which="all")
    assert "1 commit to push" in panel.show()
    entry = AuditEntry.objects.get(action="checkout.pushed")
    assert entry.data["branch"] == row.branch


def test_it_says_why_it_cannot_push(browser: Client, own: Session, bare: Path) -> None:
    panel = Panel(browser, own)
    panel.show()
    panel.do("commit", message="One", which="all")
    branch = panel.row.branch
    clone = bare.parent / "clone"
    run(f"git clone -q {bare} {clone}; cd {clone}; git checkout -qb {branch}", bare.parent)
    run(f"git commit -q --allow-empty -m Other; git push -q origin {branch}", clone)
    row = panel.do("push")
    assert row.job_failed
    assert "The other side has commits on this branch that are not here" in row.job_detail


def test_without_an_address_it_says_who_sets_one(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    shown = panel.show()
    assert "No address yet" in shown
    assert "An admin does under Publishing" in panel.refused("push")


def test_a_viewer_reads_it_and_an_outsider_does_not(
    client_for: ClientFor, vera: User, charlie: User, own: Session
) -> None:
    url = f"/t/acme/s/{own.pk}/publish"
    assert client_for(vera).get(url).status_code == 200
    for act in ("commit", "push", "switch", "rename", "request"):
        assert client_for(vera).post(f"{url}/{act}").status_code == 403
        assert client_for(charlie).post(f"{url}/{act}").status_code == 404
    assert client_for(charlie).get(url).status_code == 404
    assert client_for(vera).post(f"{url}/look").status_code == 403


def test_htmx_gets_the_fragment_and_the_session_leads_there(browser: Client, own: Session) -> None:
    url = f"/t/acme/s/{own.pk}/publish"
    shown = browser.get(url, headers={"hx-request": "true"}).content.decode()
    assert shown.lstrip().startswith("<section")
    assert f'hx-get="{url}?poll=1"' in shown
    session = f"/t/acme/s/{own.pk}"
    assert f'href="{url}"' in browser.get(session).content.decode()
    assert f'href="{url}"' in browser.get(f"{session}?panel=changes").content.decode()


def test_the_page_asks_so_much(
    browser: Client, own: Session, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    panel = Panel(browser, own)
    panel.show()
    with django_assert_max_num_queries(22):
        browser.get(f"{panel.url}?poll=1")


@pytest.fixture
def seen() -> list[tuple[str, str | None]]:
    return []


@pytest.fixture(params=list(Kind))
def fake(
    request: pytest.FixtureRequest,
    project: Project,
    bare: Path,
    tmp_path: Path,
    seen: list[tuple[str, str | None]],
) -> Iterator[FakeForge]:
    run("git config http.receivepack true", bare)
    with forge(request.param) as made, git_server(tmp_path, seen=seen) as place:
        ProjectForge.objects.create(
            project=project,
            remote_url=f"http://{place}/acme/till.git",
            kind=made.kind.value,
            api_url=made.api,
            token=encrypt(TOKEN),
            updated_at=project.created_at,
        )
        yield made


def ask(panel: Panel, **fields: str) -> Checkout:
    wanted = {"title": "Mend the till", "body": "Why.", "base": "main", **fields}
    return panel.do("request", **wanted)


def test_it_opens_a_pull_request_of_what_it_pushes_first(
    browser: Client,
    own: Session,
    fake: FakeForge,
    bare: Path,
    alice: User,
    seen: list[tuple[str, str | None]],
) -> None:
    panel = Panel(browser, own)
    panel.show()
    panel.do("commit", message="Mend the rounding", which="all")
    fake.branches.add(panel.row.branch)
    shown = panel.show()
    assert 'value="Mend the rounding"' in shown
    assert f"Session: http://testserver/t/acme/s/{own.pk}</textarea>" in shown
    assert 'value="main"' in shown
    row = ask(panel, draft="on")
    assert not row.job_failed, row.job_detail
    assert row.job_detail == "Opened the pull request #1."
    assert row.branch in run("git branch", bare)
    # git gets the token as the password of that one remote.
    name = {"github": "x-access-token"}.get(fake.kind.value, "oauth2")
    basic = base64.b64encode(f"{name}:{TOKEN}".encode()).decode()
    assert {signed for _, signed in seen} == {f"Basic {basic}"}
    pull = PullRequest.objects.get()
    assert (pull.session_id, pull.state, pull.opened_by) == (own.pk, "draft", alice)
    shown = panel.show()
    assert f'href="{pull.url}"' in shown
    assert ">Draft<" in shown
    assert "request" not in forms_of(shown)
    assert TOKEN not in shown
    assert ">Draft<" in browser.get(f"/t/acme/s/{own.pk}").content.decode()
    fake.settle(1, merged=True)
    PullRequest.objects.update(looked_at=pull.created_at.replace(year=2020))
    Checkout.objects.update(looked_at=None)
    assert ">Merged<" in panel.show()
    assert "request" in forms_of(panel.show())
    entry = AuditEntry.objects.get(action="pull.opened")
    assert TOKEN not in str(entry.data)
