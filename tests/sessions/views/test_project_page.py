from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from providers.models import ProviderConfig
from sessions.models import Project, PullRequest, ServerProcess, Session
from teams.models import User
from tests.sessions.factories import make_project, make_session
from tests.sessions.story import Story
from tests.sessions.views.reviewing import Repository

pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}


def overview(client: Client, project: Project, query: str = "") -> str:
    page = client.get(f"/t/acme/p/{project.pk}/{query}").content.decode()
    return str(page.split('id="overview"')[1].split("</section>")[0])


def pull(session: Session, number: int, **fields: str) -> None:
    PullRequest.objects.create(
        project=session.project,
        session=session,
        branch="b",
        base_branch="main",
        number=number,
        url=f"https://forge.example/{number}",
        title=f"Title <{number}>",
        **{"state": "open", "checks": "failed", **fields},
    )


def test_the_last_commit_comes_from_the_host_of_the_files(
    client_for: ClientFor, vera: User, project: Project, repository: Repository
) -> None:
    viewers = client_for(vera)
    page = overview(viewers, project)
    assert 'hx-get="?commit=1"' in page
    head = Path(project.directory, ".git", "HEAD").read_text().strip()
    assert f">{head.rpartition('/')[2]}<" in page
    repository.git("commit", "-q", "--allow-empty", "-m", "Mend <the> till\n\nAll of it.")
    for told in (
        overview(viewers, project, "?commit=1"),
        viewers.get(f"/t/acme/p/{project.pk}/?commit=1", headers=HTMX).content.decode(),
    ):
        assert "Mend &lt;the&gt; till" in told
        assert "All of it" not in told
        assert "hx-get" not in told.split('id="last-commit"')[1].split("</span>")[0]


def test_a_project_without_a_commit_says_so(
    client_for: ClientFor, alice: User, project: Project
) -> None:
    assert "No commits yet" in overview(client_for(alice), project, "?commit=1")


def test_open_pull_requests_are_listed_and_closed_ones_not(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    assert "None open" in overview(client_for(alice), session.project)
    for number in range(1, 8):
        pull(session, number)
    pull(session, 9, state="merged")
    shown = overview(client_for(alice), session.project)
    assert 'href="https://forge.example/7"' in shown
    assert "Title &lt;7&gt;" in shown
    assert "Checks failed" in shown
    assert "2 more are open" in shown
    assert "forge.example/9" not in shown


def test_the_health_of_agents_names_what_is_missing(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    browser, project = client_for(alice), session.project
    shown = overview(browser, project)
    assert "Model ready: " in shown
    assert "No worker is online." in shown
    assert "Last turn" not in shown
    now = timezone.now()
    process = ServerProcess.objects.create(
        name="w",
        kind="worker",
        host=project.host,
        version="1",
        build="1",
        started_at=now,
        seen_at=now,
    )
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.finish()
    shown = overview(browser, project)
    assert "Worker online" in shown
    assert "Last turn: Done" in shown
    assert f'href="/t/acme/s/{session.pk}"' in shown
    Session.objects.filter(pk=session.pk).update(outcome="failed", outcome_detail="The key is bad.")
    ProviderConfig.objects.all().delete()
    for lost in ({"seen_at": now - timedelta(minutes=1)}, {"seen_at": now, "drain_since": now}):
        ServerProcess.objects.filter(pk=process.pk).update(**lost)
        assert "No worker is online." in overview(browser, project)
    shown = overview(browser, project)
    assert "No model is ready" in shown
    assert "Last turn failed: The key is bad." in shown
    Session.objects.filter(pk=session.pk).update(outcome_detail="x" * 300)
    assert "xx…" in overview(browser, project)


def test_more_sessions_and_pull_requests_take_no_more_statements(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    browser, counts = client_for(alice), list[int]()
    overview(browser, session.project)
    for number in range(1, 4):
        Story(make_session(alice, session.project), alice).ask("hi")
        pull(session, number)
        with CaptureQueriesContext(connection) as statements:
            overview(browser, session.project)
        counts.append(len(statements))
    assert counts[0] == counts[-1]


def test_nothing_of_the_settings_stands_on_the_project_page(
    client_for: ClientFor, alice: User, vera: User, session: Session
) -> None:
    url = f"/t/acme/p/{session.project_id}/"
    page = client_for(alice).get(url).content.decode()
    assert f'href="{url}settings"' in page
    settings = client_for(alice).get(f"{url}settings").content.decode()
    for name in ("mcp", "network", "secrets", "publishing", "schedules", "repository"):
        assert f'href="{url}{name}' not in page
        assert f'href="{url}{name}' in settings
    assert 'id="rules"' not in page
    assert 'id="project-settings"' in settings
    viewers = client_for(vera).get(f"{url}settings").content.decode()
    assert 'id="rules"' in viewers
    assert 'id="project-settings"' not in viewers


def test_pull_requests_of_private_sessions_are_named_to_who_sees_these(
    client_for: ClientFor, alice: User, bob: User, vera: User, project: Project
) -> None:
    pull(make_session(bob, project), 1)
    hidden = make_session(bob, project, title="Hidden")
    pull(hidden, 2)
    Session.objects.filter(pk=hidden.pk).update(is_private=True)
    for user, is_told in ((alice, True), (bob, True), (vera, False)):
        page = overview(client_for(user), project)
        assert "Title &lt;1&gt;" in page
        assert ("Title &lt;2&gt;" in page) is is_told


def test_sessions_are_listed_unless_the_list_beside_the_page_has_the_same_ones(
    client_for: ClientFor, alice: User, bob: User, session: Session, tmp_path: Path
) -> None:
    client, url = client_for(alice), f"/t/acme/p/{session.project_id}/"
    theirs = make_session(bob, session.project)
    listed = client.get(url).content.decode()
    assert 'class="page home"' in listed
    assert f'id="card-{theirs.pk}"' in listed
    assert 'class="page home"' not in client.get(f"{url}?archived=1").content.decode()
    # The list beside it is filtered: it lacks a session of somebody else.
    client.get("/t/acme/?who=mine")
    assert 'class="page home"' not in client.get(url).content.decode()
    client.get("/t/acme/?who=team")
    # It has sessions of another project.
    other = make_project(session.project.team, tmp_path, name="other", git=False)
    assert 'class="page home"' in client.get(url).content.decode()
    make_session(alice, other)
    assert 'class="page home"' not in client.get(url).content.decode()
