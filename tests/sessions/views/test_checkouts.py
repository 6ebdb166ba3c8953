from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.actions.checkouts import Plan
from sessions.checkouts.jobs import run_job
from sessions.models import Checkout, Project, Session
from sessions.runner import run_session
from teams.models import AuditEntry, User
from tests.factories import add_member
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.runner.drains import allow_bash

ClientFor = Callable[[User | None], Client]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    return Path(project.directory)


@pytest.fixture
def worked(alice: User, project: Project, shop: Path) -> Session:
    session = make_session(alice, project, title="Mend the till", checkout=Plan())
    allow_bash(session)
    call = {"tool": "bash", "input": {"command": "echo 1 >new", "description": "Run"}}
    prompt(alice, session, script([call], [{"text": "ok"}]))
    asyncio.run(run_session(session.pk))
    return session


def page_of(session: Session) -> str:
    return f"/t/acme/s/{session.pk}/worktree"


def work_in_folder(user: User, project: Project) -> None:
    prompt(user, make_session(user, project), script([{"text": "ok"}]))


def do(session: Session) -> Checkout:
    asyncio.run(run_job(session.pk))
    return Checkout.objects.get(pk=session.pk)


def forms_of(html: str) -> set[str]:
    return set(re.findall(r'action="[^"]*/worktree/(\w+)"', html))


def test_it_shows_the_branch_and_what_can_be_done(
    browser: Client, worked: Session, shop: Path
) -> None:
    url = page_of(worked)
    first = browser.get(url).content.decode()
    assert "Not checked yet" in first
    assert f'hx-get="{url}"' in first
    assert do(worked).dirty == 1
    html = browser.get(url).content.decode()
    assert "0 ahead, 0 behind" in html
    assert forms_of(html) == {"commit", "push", "drop"}
    assert ">Mend the till</textarea>" in html
    assert "hx-get" not in html.partition('id="checkout"')[2].partition(">")[0]
    told = browser.post(f"{url}/commit", {"message": "Mend\r\n\r\nit"}, follow=True)
    assert "Committing…" in told.content.decode()
    assert do(worked).ahead == 1
    html = browser.get(url).content.decode()
    assert forms_of(html) == {"merge", "push", "drop"}
    assert "Committed" in html
    browser.post(f"{url}/merge")
    assert do(worked).job_failed is False
    assert run("git log -1 --format=%s", shop) == "Mend\n"
    browser.post(f"{url}/drop")
    do(worked)
    html = browser.get(url).content.decode()
    assert "everything was merged" in html
    assert forms_of(html) == set()
    entries = AuditEntry.objects.filter(action__startswith="checkout.").order_by("pk")
    assert list(entries.values_list("action", flat=True)) == [
        "checkout.committed",
        "checkout.merged",
        "checkout.dropped",
    ]


def test_what_cannot_be_done_is_said(browser: Client, worked: Session) -> None:
    url = page_of(worked)
    told = browser.post(f"{url}/push", {"url": ""}, follow=True).content.decode()
    assert "Enter the address to push to" in told
    told = browser.post(f"{url}/commit", {"message": " "}, follow=True).content.decode()
    assert "A commit message must have" in told
    told = browser.post(f"{url}/restore", follow=True).content.decode()
    assert "The worktree is not ready yet" in told or "There is a worktree" in told
    assert browser.post(f"{url}/nothing").status_code == 404


def test_a_viewer_reads_and_an_outsider_sees_nothing(
    client_for: ClientFor, vera: User, charlie: User, worked: Session
) -> None:
    url = page_of(worked)
    assert client_for(vera).get(url).status_code == 200
    assert client_for(vera).post(f"{url}/drop").status_code == 403
    assert client_for(charlie).get(url).status_code == 404
    assert client_for(charlie).post(f"{url}/drop").status_code == 404


def test_a_person_chooses_where_a_new_session_works(
    browser: Client, project: Project, shop: Path
) -> None:
    run("git branch feature/1", shop)

    def start(**fields: str) -> Session:
        sent = {"text": "hi", "project": project.pk, **fields}
        answer = browser.post("/t/acme/start", sent)
        assert answer.status_code == 302, answer.content.decode()
        return Session.objects.get(pk=answer["Location"].rpartition("/")[2])

    assert start(place="project").folder == ""
    own = start(place="own", branch="feature/1")
    assert own.checkout.base_branch == "feature/1"
    assert own.checkout.branch == f"opencode/{own.slug}"
    assert own.checkout.asked
    assert start().checkout.asked is False
    project.config = {"worktree": "project"}
    project.save()
    assert start().folder == ""
    for branch, said in (("-x", "not a valid branch name"), ("gone", "no branch named gone")):
        sent = {"text": "hi there", "project": project.pk, "place": "own", "branch": branch}
        refused = browser.post("/t/acme/start", sent)
        assert refused.status_code == 422
        shown = refused.content.decode()
        assert said in shown
        assert "hi there" in shown
        assert f'name="branch" value="{branch}"' in shown


def test_the_place_of_a_new_session_is_kept_and_warns_of_others_in_the_folder(
    browser: Client, alice: User, bob: User, project: Project, shop: Path
) -> None:
    url = f"/t/acme/start/place?project={project.pk}&of={project.pk}&place="
    own = browser.get(f"{url}own&branch=gone").content.decode()
    assert '<option value="main">' in own
    assert "There is no branch named gone." in own
    work_in_folder(bob, project)
    folder = browser.get(f"{url}project").content.decode()
    assert "1 session of somebody else is working in this folder." in folder
    # Nobody else has to know of one's own.
    work_in_folder(alice, project)
    assert "1 session of somebody else" in browser.get(f"{url}project").content.decode()
    assert "somebody else" not in browser.get(url).content.decode()

    sent = {"text": "hi", "project": project.pk, "place": "project"}
    assert browser.post("/t/acme/start", sent).status_code == 302
    assert '<option value="project" selected>' in browser.get("/t/acme/").content.decode()
    # As another project was chosen before, what was chosen for that is no choice for this one.
    other = f"/t/acme/start/place?project={project.pk}&of=prj_other&place=own"
    assert '<option value="project" selected>' in browser.get(other).content.decode()


def test_the_default_is_own_but_for_who_tries_the_sample_alone(
    browser: Client, charlie: User, project: Project, shop: Path
) -> None:
    def started() -> Session:
        answer = browser.post("/t/acme/start", {"text": "hi", "project": project.pk})
        return Session.objects.get(pk=answer["Location"].rpartition("/")[2])

    assert started().folder.endswith("/shop")
    project.source = Project.Source.SAMPLE
    project.save()
    assert started().folder == ""
    add_member(project.team, charlie)
    assert started().folder.endswith("/shop")
