from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.lib.errors import NotFound
from sessions.access import access_project
from sessions.actions.checkouts import Plan
from sessions.actions.privacy import set_private
from sessions.actions.rescued_branches import request_branch, rescued_work
from sessions.actions.sessions import delete_session
from sessions.checkouts.jobs import run_job
from sessions.git.places import store_of
from sessions.models import Checkout, Project
from sessions.runner import run_session
from teams.auth import authenticate_user
from teams.models import AuditEntry, User
from tests.sessions.checkouts.conftest import run
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import allow_bash
from tests.sessions.views.test_checkouts import browser, shop

__all__ = ["browser", "shop"]
ClientFor = Callable[[User | None], Client]
pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture
def rescued(alice: User, project: Project, shop: Path) -> Checkout:
    """The work of a session that was deleted with a file that nobody has committed."""
    session = make_session(alice, project, title="Mend the <till>", checkout=Plan())
    allow_bash(session)
    call = {"tool": "bash", "input": {"command": "echo 1 >new", "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))
    delete_session(session_access(alice, session))
    return do(session.pk)


def do(checkout_id: str) -> Checkout:
    asyncio.run(run_job(checkout_id))
    return Checkout.objects.get(pk=checkout_id)


def url_of(project: Project, act: str = "", checkout: str = "") -> str:
    page = f"/t/acme/p/{project.pk}/"
    return f"{page}rescued/{checkout}/{act}" if act else page


def refs_of(folder: Path) -> set[str]:
    return set(run("git for-each-ref --format='%(refname)'", folder).split())


def listed(html: str) -> str:
    found = re.search(r'<section id="rescued".*?</section>', html, re.DOTALL)
    return found[0] if found else ""


def test_rescued_work_is_put_on_a_branch_and_deleted(
    browser: Client, project: Project, rescued: Checkout, shop: Path
) -> None:
    assert (rescued.state, rescued.session) == ("parked", None)
    page = url_of(project)
    shown = listed(browser.get(page).content.decode())
    assert "Mend the &lt;till&gt;" in shown
    assert "its session was deleted" in shown
    assert f"refs/opencode/rescue/{rescued.pk}" in shown
    assert "hx-get" not in shown

    url = url_of(project, "branch", rescued.pk)
    told = browser.post(url, {"name": "kept/till"}, follow=True).content.decode()
    assert "Creating the branch" in listed(told)
    assert f'hx-get="{page}rescued"' in listed(told)
    assert do(rescued.pk).job_failed is False
    fragment = browser.get(f"{page}rescued", headers={"HX-Request": "true"}).content.decode()
    assert "Its work is on the branch kept/till of the project." in fragment
    assert "csrfmiddlewaretoken" in fragment
    assert run("git show kept/till:new", shop) == "1\n"
    assert run("git status --porcelain; git symbolic-ref --short HEAD", shop) == "main\n"

    browser.post(url_of(project, "discard", rescued.pk))
    asyncio.run(run_job(rescued.pk))
    assert not Checkout.objects.filter(pk=rescued.pk).exists()
    assert refs_of(shop) == {"refs/heads/kept/till", "refs/heads/main"}
    assert rescued.pk not in "".join(refs_of(store_of(project.pk)))
    assert listed(browser.get(page).content.decode()) == ""
    fragment = browser.get(f"{page}rescued", headers={"HX-Request": "true"}).content.decode()
    assert "No rescued work." in fragment
    entries = AuditEntry.objects.filter(action__startswith="checkout.").order_by("pk")
    assert [one.action for one in entries] == ["checkout.branched", "checkout.discarded"]
    assert entries[0].told["name"] == "kept/till"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("main", "The project has a branch main already. Choose another name."),
        ("-f", "This is not a valid branch name."),
        ("a..b", "This is not a valid branch name."),
        ("", "This is not a valid branch name."),
    ],
)
def test_a_branch_is_never_moved_and_a_wrong_name_is_said(
    browser: Client, project: Project, rescued: Checkout, shop: Path, name: str, said: str
) -> None:
    before = run("git rev-parse main", shop)
    url = url_of(project, "branch", rescued.pk)
    told = browser.post(url, {"name": name}, follow=True).content.decode()
    do(rescued.pk)
    assert said in told + listed(browser.get(url_of(project)).content.decode())
    assert run("git rev-parse main", shop) == before
    assert f"refs/opencode/rescue/{rescued.pk}" in refs_of(shop)


def test_what_its_session_has_brought_back_is_not_deleted(
    browser: Client, alice: User, project: Project, shop: Path
) -> None:
    session = make_session(alice, project, checkout=Plan())
    allow_bash(session)
    call = {"tool": "bash", "input": {"command": "echo 1 >new", "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))
    worktree = f"/t/acme/s/{session.pk}/worktree"
    browser.post(f"{worktree}/drop")
    assert do(session.pk).state == "parked"
    assert f'href="{worktree}"' in listed(browser.get(url_of(project)).content.decode())
    browser.post(f"{worktree}/restore")
    told = browser.post(url_of(project, "discard", session.pk), follow=True).content.decode()
    assert "Another operation is in progress (restore)" in told
    assert do(session.pk).state == "ready"
    told = browser.post(url_of(project, "discard", session.pk), follow=True).content.decode()
    assert "This work is no longer rescued" in told
    assert (Path(session.folder) / "new").read_text() == "1\n"


def test_doing_it_twice_changes_nothing(project: Project, rescued: Checkout, shop: Path) -> None:
    for _ in range(2):
        # As after a worker that died behind the work, before it could say so.
        Checkout.objects.filter(pk=rescued.pk).update(job="branch", job_data={"name": "again"})
        assert do(rescued.pk).job_failed is False
    Checkout.objects.filter(pk=rescued.pk).update(job="discard")
    run(f"git update-ref -d refs/opencode/rescue/{rescued.pk}", shop)
    asyncio.run(run_job(rescued.pk))
    assert not Checkout.objects.filter(pk=rescued.pk).exists()


def test_only_admins_delete_and_nobody_reaches_anothers(
    client_for: ClientFor, bob: User, charlie: User, project: Project, rescued: Checkout
) -> None:
    for user, code in ((bob, 403), (charlie, 404)):
        assert client_for(user).post(url_of(project, "discard", rescued.pk)).status_code == code
    shown = listed(client_for(bob).get(url_of(project)).content.decode())
    assert 'data-needs="admin"' in shown
    rescued.refresh_from_db()
    assert rescued.job == ""


def test_work_of_another_project_is_not_found(
    browser: Client, project: Project, rescued: Checkout, tmp_path: Path
) -> None:
    other = Project.objects.create(
        id="prj_other", team=project.team, name="other", host="local", directory=str(tmp_path)
    )
    assert browser.post(url_of(other, "discard", rescued.pk)).status_code == 404
    assert browser.post(url_of(other, "branch", rescued.pk), {"name": "x"}).status_code == 404


@pytest.mark.usefixtures("shop")
def test_what_is_left_of_a_private_session_does_not_tell_its_title(
    alice: User, bob: User, project: Project
) -> None:
    session = make_session(alice, project, title="Who is to go", checkout=Plan())
    Checkout.objects.filter(pk=session.pk).update(state="parked", rescued="1" * 40)
    set_private(session_access(alice, session), private=True)
    access = access_project(authenticate_user(bob), project.pk)
    with pytest.raises(NotFound):
        request_branch(access, session.pk, name="mine")
    delete_session(session_access(alice, session))
    (left,) = rescued_work(access)
    assert left.title == left.branch != ""
