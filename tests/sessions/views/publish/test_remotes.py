from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.lib.crypto import encrypt
from sessions.forges.adapter import ForgeKind
from sessions.models import Checkout, Project, ProjectForge, PullRequest, Session
from teams.models import AuditEntry, User
from tests.sessions.checkouts.conftest import run
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.git_server import git_server
from tests.sessions.views.publish.panel import Panel, forms_of
from tests.web_server import answer

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]


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
    assert entry.told["branch"] == row.branch


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


def test_an_address_that_did_not_take_it_stays_in_its_field(
    browser: Client, own: Session, bare: Path
) -> None:
    panel, gone = Panel(browser, own), f"file://{bare.parent}/gone.git"
    panel.show()
    panel.do("commit", message="One", which="all")
    assert panel.do("push", url=gone).job_failed
    shown = browser.get(f"{panel.url}?poll=1").content.decode()
    assert f'name="url" value="{gone}"' in shown
    assert f'href="/t/acme/s/{own.pk}">Back to the session' in shown
    refused = browser.post(f"{panel.url}/push", {"url": "ftp://host/code.git"})
    assert 'name="url" value="ftp://host/code.git"' in refused.content.decode()
    secret = browser.post(f"{panel.url}/push", {"url": "ftp://me:t0ken@host/code.git"})
    assert "t0ken" not in secret.content.decode()


def test_without_an_address_it_says_who_sets_one(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    shown = panel.show()
    assert "No address yet" in shown
    assert "An admin can set one under Publishing" in panel.refused("push")


@pytest.fixture
def seen() -> list[tuple[str, str | None]]:
    return []


@pytest.fixture(params=[*ForgeKind])
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
    old = pull.created_at.replace(year=2020)
    PullRequest.objects.update(looked_at=old)
    Checkout.objects.update(looked_at=None)
    fake.then.append(answer(b"{}", status=502, content_type="application/json"))
    assert "has a problem of its own (502)" in panel.show()
    assert PullRequest.objects.get().cause["reason"] == "forge_fault"
    PullRequest.objects.update(looked_at=old)
    Checkout.objects.update(looked_at=None)
    assert ">Merged<" in panel.show()
    assert PullRequest.objects.get().cause == {}
    assert "request" in forms_of(panel.show())
    entry = AuditEntry.objects.get(action="pull.opened")
    assert TOKEN not in str(entry.data)


def test_checks_are_counted_in_the_header_and_in_the_list_of_sessions(
    browser: Client, own: Session, fake: FakeForge
) -> None:
    panel = Panel(browser, own)
    panel.show()
    panel.do("commit", message="Mend", which="all")
    fake.branches.add(panel.row.branch)
    panel.show()
    ask(panel)
    fake.checks, fake.passed = "failed", 2
    pull = PullRequest.objects.get()
    PullRequest.objects.update(looked_at=pull.created_at.replace(year=2020))
    Checkout.objects.update(looked_at=None)
    said = "Checks failed" if fake.kind is ForgeKind.GITLAB else "1 check failed, 2 passed"
    assert said in panel.show()
    page = browser.get(f"/t/acme/s/{own.pk}").content.decode()
    for place in (f"header-pull-{own.pk}", f"pull-row-{own.pk}"):
        shown = page.split(f'id="{place}"')[1].split("</span>")[1]
        assert said in shown
        below = "/pipelines" if fake.kind is ForgeKind.GITLAB else ""
        assert f'href="{pull.url}{below}"' in shown
